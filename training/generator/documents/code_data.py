"""Words for small programs: functions that decide, constants, classes, enumerations, fields."""

__all__ = [
    "BASES",
    "CHOICES",
    "CONSTANTS",
    "DEFAULTS",
    "DOERS",
    "EMPTIES",
    "ENUMS",
    "FIELDS",
    "IMPORTS",
    "LADDERS",
]

LADDERS = """
shipping_cost weight money|ticket_price age money|grade points A,B,C,D,F|fan_speed temperature 0,1,2,3,5
discount total 0,5,10,15,25
risk_level score low,medium,high,severe|delay_ms attempts 100,500,2000,8000|font_size width 12,14,18,24
bonus years 0,50,200,750
late_fee days money|wind_class speed calm,breeze,gale,storm|battery_state percent empty,low,half,full
tide_warning level none,watch,warning,alarm
star_count rating 1,2,3,4,5|armor_class damage light,plate,chain,none|rank xp rookie,knight,captain,legend
tax_rate income 0.07,0.12,0.19,0.32
traffic_light queue red,yellow,green|roast_level minutes light,city,dark|air_quality ppm good,fair,poor,bad
tempo_name bpm largo,andante,allegro,presto
cabin_class miles economy,comfort,business|log_weight errors 1,3,9,27|zoom_step pixels 1,2,4,8
queue_priority age 9,5,3,1|rent_factor area 1.1,1.25,1.4,2.0
parking_fee hours money|size_label chest S,M,L,XL|boost combo 1,2,4,10|severity count info,warning,critical
crowd_level people quiet,busy,packed
"""

CHOICES = """
vat_rate category book=0.07,food=0.05,wine=0.2,toy=0.19
opening_time day monday=09:00,friday=10:30,saturday=11:00
color_of state idle=grey,running=blue,failed=red,done=green|legs animal spider=8,bird=2,cat=4,ant=6
icon_for kind folder=📁,image=🖼,text=📄
price_per_kg fruit apple=2.40,mango=5.90,pear=3.10,fig=8.20
strings_of instrument violin=4,harp=47,bass=4,guitar=6|capital country peru=Lima,kenya=Nairobi,norway=Oslo
sound animal cow=moo,duck=quack,owl=hoot|mime_type ext png=image/png,csv=text/csv,svg=image/svg+xml
exit_code reason timeout=124,killed=137,usage=64
gear terrain snow=1,sand=2,road=5|wood_for part neck=maple,top=spruce,back=walnut
wash_temp fabric wool=30,cotton=60,silk=20
dose_mg drug aspirin=500,ibuprofen=400,iron=14|season_of month april=spring,july=summer,october=autumn
role_of user admin=all,editor=write,guest=read
baud board uno=9600,mega=115200,nano=57600|points_for medal gold=5,silver=3,bronze=1
weight_of coin penny=3.56,euro=7.5,franc=4.4
"""

EMPTIES = """
greet name Hello stranger|title_of book untitled|initials name ??|slug title n-a|author_line author anonymous
label tag none|caption photo no caption
nickname player Player 1|unit symbol unknown unit|room_name room lobby|signature sender The team
filename title unnamed|subject mail (no subject)
headline news Nothing new|address street no address|reason note not given|motto team Never give up
"""

CONSTANTS = """
MAX_RETRIES 2..9|TIMEOUT_S 5..90|BUFFER_SIZE 64,256,512,1024,4096|PAGE_SIZE 10,20,25,50|GRAVITY 9.81,0.4,12.5
TAX_RATE 0.19,0.2,0.081,0.25
TILE_SIZE 8,16,32,48|START_LIVES 3..7|SAMPLE_RATE 22050,44100,48000|API_VERSION "v2","v3","2024-06"
DEFAULT_LANG "en","fr","pt","sv"|MAX_PLAYERS 2..16
BASE_URL "https://api.example.org","http://localhost:8000"|TABLE_NAME "members","readings","visits"
LOG_FILE "run.log","app.log"|DATE_FORMAT "%d.%m.%Y","%Y-%m-%d"
BAUD_RATE 9600,57600,115200|LED_PIN 2..19|SPEED 3..40|JUMP_FORCE 7.5,9.2,11|OVEN_TEMP 160,180,200,220
RENT_DUE_DAY 1..28|TICKET_PRICE 4.50,12.80,9.90
CURRENCY "EUR","CHF","NOK"|COLOR "teal","crimson","amber"|GREETING "Welcome back","Good day"
WINDOW_TITLE "Moon Miner","Snail Race","Tide Clock"|MAX_NAME_LENGTH 20..80
CACHE_TTL 60,300,900,3600|QUEUE_NAME "mail","jobs","slow"|FRAME_RATE 24,30,60|MIN_AGE 12..21
SEATS_PER_ROW 8..40|TOLERANCE 0.001,0.05,1e-6|EPOCHS 5..80|BATCH 16,32,64
"""

DEFAULTS = """
connect host port=5432,8883,1883 retries=3,5,10|resize image width=320,800,1024 quality=70,85,92
brew grams water_ml=250,300,500 minutes=3,4,6|draw shape color="red","navy" size=8,12,40
search query limit=10,25,100 order="name","date"|transpose notes steps=2,5,7 clef="treble","bass"
round_price value digits=1,2,3 currency="EUR","GBP"|send_report user day="monday","friday" copies=1,2,4
read_sensor pin samples=4,8,16 delay=0.1,0.5,2|fetch url timeout=10,15,30 attempts=2,3
paginate items page=1 per_page=12,20,50|spawn kind level=1,3 health=50,80,120
parse_date text fmt="%d/%m/%Y","%Y-%m-%d" zone="UTC","CET"
export rows sep=";","-","_" path="out.csv","data.csv"|mix drink ice=2,3 strength=0.4,0.6
blur layer radius=2,4,9 passes=1,3|tune string pitch=440,442 cents=5,10
backup folder keep=3,7,14 target="/mnt/nas","/srv/backup"
"""

DOERS = """
add a b a + b the sum of a and b|area width height width * height the area
double value 0 value * 2 twice the value|perimeter w h 2 * (w + h) the perimeter
speed distance time distance / time the speed
half n 0 n / 2 half of n|total price count price * count the total
remaining goal done goal - done what remains|cube x 0 x * x * x the cube of x
bmi mass height mass / (height * height) the body mass index
"""

BASES = """
InvoiceService TenantScopedService|CsvExporter Exporter|Violin StringInstrument|SlimeEnemy Enemy
TideSensor Sensor|PdfReport Report|AdminView ProtectedView|NightTheme Theme|Heron Bird|LoanAccount Account
RedisCache Cache
MailJob BackgroundJob|TextField Widget|Goblin Monster|StepperMotor Motor|JsonParser Parser
BookingError AppError|CityBus Vehicle|Espresso Drink|GuestUser User|SqlStore Store|UploadForm BaseForm
KitchenPrinter Printer|Sonnet Poem
"""

ENUMS = """
Direction North,East,South,West|Tile Grass,Water,Sand,Wall,Door,Lava|Suit Hearts,Spades,Clubs,Diamonds
Status Draft,Open,Paid,Overdue,Cancelled|Season Spring,Summer,Autumn,Winter|Priority Low,Normal,High,Urgent
Color Red,Green,Blue,Amber,Violet|Gear Park,Reverse,Neutral,Drive|Mood Happy,Tired,Angry,Hungry,Curious
Roast Light,Medium,Dark|Signal Go,Slow,Stop|Piece Pawn,Rook,Knight,Bishop,Queen,King
Weather Sun,Rain,Fog,Snow,Hail,Storm,Wind
Role Admin,Editor,Author,Guest|Unit Gram,Litre,Cup,Spoon,Pinch|Phase Idle,Warmup,Print,Cooldown
Level Debug,Info,Warn,Error,Fatal|Planet Mercury,Venus,Earth,Mars|Rarity Common,Rare,Epic,Mythic
Clef Treble,Alto,Tenor,Bass
"""

FIELDS = """
Order id:int customer:str total:float paid:bool|Song title:str bpm:int artist:str
Reading sensor:str value:float taken_at:int|Member name:str since:int email:str active:bool
Tile x:int y:int solid:bool|Recipe title:str servings:int minutes:int
Vehicle plate:str wheels:int weight:float|Booking room:str nights:int guest:str
Player name:str score:int alive:bool|Parcel code:str weight:float fragile:bool
Star name:str mass:float distance:float|Plant species:str height:float water:int
Ticket number:int seat:str price:float|Book isbn:str pages:int author:str|Patient name:str age:int ward:str
Match home:str away:str goals:int
"""

IMPORTS = {
    "py": (
        "csv,json,random,math,pathlib,sqlite3,datetime,collections,itertools,argparse,re,sys,statistics,"
        "textwrap,shutil,time"
    ),
    "js": "express,lodash,axios,dayjs,chalk,pg,ws,sharp,zod,uuid,commander,nodemailer",
    "ts": "express,zod,rxjs,pino,dayjs,typeorm,react,vite,kysely,socket.io",
    "go": "fmt,os,strings,net/http,encoding/json,time,log,strconv,sort,bufio,path/filepath",
    "rs": (
        "std::fs,std::env,std::collections::HashMap,serde::Deserialize,rand::Rng,chrono::Utc,"
        "std::io::Read,regex::Regex"
    ),
    "c": "stdio.h,stdlib.h,string.h,math.h,time.h,unistd.h,stdint.h,ctype.h",
    "java": (
        "java.util.List,java.util.Map,java.nio.file.Path,java.time.LocalDate,java.io.IOException,"
        "java.util.Optional"
    ),
    "rb": "json,csv,date,set,net/http,yaml,optparse,time,fileutils,erb",
    "kt": "java.io.File,kotlin.math.sqrt,java.time.Instant,kotlin.random.Random",
    "swift": "Foundation,SwiftUI,Combine,MapKit,AVFoundation",
    "cs": "System,System.IO,System.Linq,System.Text.Json,System.Net.Http,System.Collections.Generic",
    "lua": "socket,lpeg,json,inspect,class",
    "php": "Carbon,Monolog,Twig,Guzzle",
}
