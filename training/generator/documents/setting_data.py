"""Settings of many programs and devices: section, then its keys.

A section starts with `[names]` and the words for what it belongs to. Each key: its names; its values; how
  people
call it; how they ask for it (`{of}` becomes `of the server`).
"""

__all__ = ["SETTINGS", "SWITCHES"]

SETTINGS = """
[server,http,web,api] server|web server|api
port ; int 3000 9999 ; port ; [what|which] port does the {s} [listen on|use|run on]|on which port is the {s}
host ; pick 0.0.0.0,127.0.0.1,api.local,10.0.4.2 ; host ; [where|on which host] does the {s} run|which address
  does the {s} bind to
workers ; int 1 32 ; number of workers ; how many workers [has|does] the {s} [start|have|]
timeout,timeout_s ; int 5 120 ; timeout ; how long does the {s} wait|after how many seconds does the {s} give
  up
max_body_mb,upload_limit_mb ; int 1 64 ; upload limit ; how large may an upload be|what is the biggest body we
  accept
base_url ; url ; base URL ; what url is the {s} at|under which address do we run

[database,db,postgres,storage] database|db
url ; dburl ; database url ; how do we connect to the {s}|connection string of the {s}
host ; pick db.internal,localhost,pg-main.lan,10.1.0.9 ; host ; where is the {s}|which machine has the {s}|on
  what host is our {s}
port ; pick 5432,3306,5433,27017,6543 ; port ; which port is the {s} on
name,dbname ; word ; name ; what is the {s} called|which database do we use
user ; word ; user ; as who do we log in to the {s}|which user connects to the {s}
pool_size,max_connections ; int 2 60 ; pool size ; how many connections may we open|how large is the pool

[cache,redis] cache
ttl,ttl_s ; int 30 7200 ; lifetime ; how long are things cached|how long do entries stay in the {s}
size_mb,max_mb ; int 16 900 ; size ; how big is the {s}|how much memory may the {s} take
backend ; pick redis,memory,disk,memcached ; backend ; what kind of {s} do we use|where does the {s} live

[mail,smtp,email] mail|mail server
host ; pick smtp.mail.example,mx1.post.example,mail.lan ; host ; which server sends our mails|through what
  server do mails go
port ; pick 25,465,587,2525 ; port ; mail goes out on which port
sender,from ; mail ; sender ; from which address do we send mails|who is the sender of our mails
retries ; int 1 9 ; number of retries ; how often do we retry a mail|how many attempts for mails

[log,logging,logs] log|logging
level ; pick debug,info,warning,error,trace ; log level ; how chatty is the {s}|which log level is on|what is
  logged at the moment
file,path ; path ; log file ; where do the logs go|which file do we log to|where can i find the log
keep_days,rotate_days ; int 3 90 ; number of days ; how many days are logs kept|when are logs thrown away
format ; pick json,plain,short,logfmt ; format ; in what format are logs written

[game,display,window,screen] game|window
width ; pick 640,800,1024,1280,1366,1600,1920,2560 ; width ; how wide is the {s}|what width has the {s}
height ; pick 480,600,720,768,900,1080,1440 ; height ; how high is the {s}|what height has the {s}
fps,max_fps ; pick 30,60,75,120,144 ; frame rate ; how many frames per second|what fps does it run at
title,caption ; coined ; title ; what does the title bar say|title of the {s}
volume ; int 0 100 ; volume ; how loud is it
difficulty ; pick easy,normal,hard,nightmare ; difficulty ; how hard is the game set|on what difficulty do i
  play

[player,hero] player
speed ; dec 1 9 1 ; speed ; how fast is the {s}|speed of the hero
lives ; int 1 9 ; number of lives ; how many lives does the {s} have
name ; coined ; name ; what is my character called|name of the {s}
jump_height ; int 8 64 ; jump height ; how high can the {s} jump

[audio,sound,rig] audio|sound
sample_rate,rate ; pick 22050,44100,48000,96000 ; sample rate ; at what rate do we sample|which sample rate is
  set
buffer,buffer_size ; pick 64,128,256,512,1024 ; buffer size ; how large is the audio buffer|buffer of my rig
device ; pick hw:1,hw:2,default,pulse,usb-mic ; device ; which sound card is used|what device does the {s} use
channels ; int 1 8 ; number of channels ; how many channels are recorded

[midi] midi
channel ; int 1 16 ; channel ; which midi channel am i on
velocity ; int 20 127 ; velocity ; how hard are the notes hit|default velocity

[heating,thermostat,boiler] heating|thermostat
day_temp,target ; dec 18 23 1 ; day temperature ; how warm should it be by day|what is the target temperature
night_temp ; dec 14 18 1 ; night temperature ; how warm is it kept at night|what do we heat to at night
mode ; pick eco,comfort,frost,auto ; mode ; which mode is the {s} in

[camera,webcam] camera
resolution ; pick 640x480,1280x720,1920x1080,3840x2160 ; resolution ; how sharp is the {s}|what resolution
  does the {s} have
interval_s ; int 1 600 ; interval ; how often does the {s} take a picture|every how many seconds comes a photo
iso ; pick 100,200,400,800,1600 ; ISO ; which iso is the {s} at

[watering,irrigation,pump] watering|pump
start,start_at ; time ; start time ; when does the watering begin|what time do the sprinklers go on
minutes,duration_min ; int 3 45 ; duration ; how long does it water|for how many minutes does the {s} run
zone ; pick roses,lawn,beds,greenhouse ; zone ; what is watered|which zone is set

[sensor,probe] sensor
pin,gpio ; int 2 27 ; pin ; which pin is the {s} on|where is the {s} plugged in
interval,interval_ms ; int 100 5000 ; interval ; how often is the {s} read
threshold,limit ; dec 10 80 1 ; threshold ; when does the {s} raise an alarm|at what value does the alarm
  start
unit ; pick celsius,hPa,percent,lux,ppm ; unit ; in what unit does the {s} measure

[motor,robot,arm] motor|robot
max_rpm ; int 200 9000 ; top speed ; how fast may the {s} turn
torque ; dec 1 12 2 ; torque ; how strong is the {s}
direction ; pick left,right,cw,ccw ; direction ; which way does the {s} turn

[training,model,train] training|model
learning_rate,lr ; pick 0.001,0.0003,0.01,0.0005,2e-5 ; learning rate ; which learning rate do we train with
epochs ; int 2 300 ; number of epochs ; how many epochs do we train
batch_size ; pick 8,16,24,32,48,64,128 ; batch size ; how large are the batches
optimizer ; pick adam,sgd,adamw,rmsprop ; optimizer ; which optimizer do we use
dropout ; pick 0.1,0.2,0.25,0.3,0.5 ; dropout ; how much dropout is set
seed ; int 1 9999 ; seed ; which seed is used

[shop,store,checkout] shop
currency ; pick EUR,USD,CHF,GBP,SEK,JPY ; currency ; what currency do we sell in|in which money are prices
tax_rate,vat ; pick 0.19,0.07,0.2,0.25,0.081 ; tax rate ; how much tax do we add|what vat do we take
free_shipping_from,free_from ; int 20 150 ; free shipping limit ; from what amount is shipping free
shipping,shipping_cost ; money ; shipping cost ; how much is shipping

[backup,archive] backup
time,at ; time ; time of the backup ; when does the {s} run|at what time do we back up
keep,keep_last ; int 2 60 ; number of copies ; how many backups are kept
target,destination ; path ; target ; where do backups go|to which place is the {s} written
compression ; pick gzip,zstd,none,xz ; compression ; how is the {s} packed

[user,profile,account] user|profile
name ; person ; name ; who is the user|what is the {s}'s name
email ; mail ; e-mail address ; what mail address is set for the user
language,locale ; pick en,de,fr,es,sv,pt-BR,ja ; language ; in which language is it|what language is set
timezone ; pick Europe/Vienna,UTC,Asia/Tokyo,America/Lima,Africa/Lagos ; time zone ; which timezone are we in

[editor,ui,theme,appearance] editor
theme ; pick dark,light,solarized,nord,sepia,gruvbox ; theme ; what theme do i use|how does the {s} look
font ; pick Fira Code,Inter,Iosevka,Hack,Lato ; font ; which font is set|what font does my {s} have
font_size ; int 8 24 ; font size ; how big are the letters|size of the font
tab_width,indent ; pick 2,3,4,8 ; tab width ; how many spaces is a tab

[printer] printer
paper ; pick A4,A3,A5,Letter ; paper size ; what paper does it print on
dpi ; pick 150,300,600,1200 ; resolution ; how many dpi does the {s} have
copies ; int 1 9 ; number of copies ; how many copies come out
nozzle ; pick 0.2,0.4,0.6,0.8 ; nozzle ; which nozzle is mounted

[queue,worker,jobs,tasks] queue
concurrency,parallel ; int 1 40 ; concurrency ; how many jobs run at once|how many tasks in parallel
max_retries,retries ; int 0 12 ; number of retries ; how often is a job tried again
poll_ms,interval ; int 50 9000 ; interval ; how often do we look for jobs

[auth,login,security] login|auth
session_hours,session_minutes ; int 1 72 ; session length ; how long does a login last|when are users logged
  out
max_attempts,attempts ; int 3 12 ; number of attempts ; how many wrong passwords are allowed
provider ; pick ldap,local,oauth,saml ; provider ; who checks the passwords|what login do we use

[map,location,station] map|station
lat,latitude ; dec 40 59 4 ; latitude ; what latitude is the {s} at
lon,longitude ; dec 2 24 4 ; longitude ; what longitude is the {s} at
zoom ; int 2 18 ; zoom ; how far is the {s} zoomed in
city ; city ; city ; where is the {s}|for which city is it

[lamp,light,led] lamp
brightness ; int 1 255 ; brightness ; how bright is the {s}
color,colour ; pick #ff8800,#00aaff,#ffffff,#22cc55,#8a2be2 ; colour ; what colour does the {s} have
on_at ; time ; switch-on time ; when does the {s} go on

[tuning,instrument] tuning
a4,pitch ; pick 440,442,415,432,443 ; pitch ; what is the a tuned to
temperament ; pick equal,meantone,just,werckmeister ; temperament ; which temperament is set

[channel,feed,podcast] podcast|feed
title ; coined ; title ; what is the {s} called
author ; person ; author ; who makes the {s}
episodes ; int 3 240 ; number of episodes ; how many episodes are there
link ; url ; link ; where is the {s} online
"""

SWITCHES = """
debug ; debug mode|debugging
enabled ; it
ssl,tls,use_tls ; TLS|encryption
verbose ; verbose output
autosave,auto_save ; autosave
cache_enabled,caching ; caching
fullscreen ; fullscreen
dry_run ; the dry run
notifications,notify ; notification
dark_mode ; dark mode
vsync ; vsync
telemetry ; telemetry
read_only,readonly ; the read-only mode
show_grid ; the grid
mute,muted ; mute
beta,beta_features ; the beta
compress ; compression
backup_enabled ; the backup
"""
