# ruff: noqa: E501
"""Orders beyond this computer's folder, with blanks, and the refusals that name what can be done instead."""

REFUSALS = """
= I cannot send e-mails. I can write the text into a file, and you send it. | I cannot send mail, I only work with the files in this folder. I can draft the text for you. | I cannot mail anyone: there is no mail program here. I can write a draft into a file.
(send|write and send) (an|a short|one) e-mail to {who}
(email|mail|e-mail) {who} that {news}
(email|mail) {file} to {who}
(send|forward) {file} to {who} (by mail|)
(email|mail|write to) (all|everybody|everyone) in {people} that {news}
send (all|the) {group} from {people} (a|an) (mail|e-mail): {news}
let (all|the) {group} in {people} know by mail that {news}
(send|mail) a reminder to (all|every one of) the {group} ({people})
(answer|reply to) the mail of {who}
(inform|notify) the {group} in {people} that {news}
send everyone (on|in) {people} an invitation
write to {who} that {news}, (and|then) send it
schick {who} eine Mail, dass ich später komme
schreibe allen in {people} eine E-Mail
envoie un mail à tous les parents de {people}
manda un correo a todos los de {people}
can the {group} in {people} get a mail that {news}?
(congratulate|thank) {who} by e-mail

= I cannot send messages or call anyone. I can write the text for you into a file. | I cannot phone or message people, I only work with files here. I can draft the text. | I cannot reach people: I have no phone. I can put the text in a file.
(call|phone|ring) {who}
(call|phone|ring) {who} and say that {news}
(text|message) {who} that {news}
send {who} (an SMS|a text|a WhatsApp|a message) that {news}
(call|phone|text) (all|the) {group} in {people}
(call|ring) the first number in {people}
(tell|ping) {who} on (Slack|Teams|Discord|Signal|Telegram) that {news}
send an SMS to every number in {people}
(leave|record) a voice message for {who}
whatsapp the {group} ({people}): {news}
(phone|call) the {shop} and ask (when they open|for the price|for a table)
(call|get me) (a taxi|an ambulance|the fire brigade)
post into our team chat that {news}
ruf {who} an
appelle {who}
llama a {who}
(can|could) you ring {who} (for me|now|)?
remind {who} (tomorrow|tonight|on Friday) that {news}

= I cannot order or buy anything. I can write a shopping list or an order text into a file. | I cannot buy, pay or book: I have no connection to shops or banks. I can write the list for you. | I cannot do that: paying and ordering are not possible here. I can prepare the text in a file.
(order|buy) {thing} (for me|online|)
(order|buy) (everything|all things|the things) (on|in|from) {list}
order {thing} from (the|our) {shop}
(book|reserve) (a table|a room|two rooms) at the {shop} for {time}
(book|reserve|get) (a flight|two seats on a train|a hotel|a bus ticket) to {city}
pay (the|my) {bill}
pay (all|the) (bills|open invoices) in {money}
(transfer|send|wire) {n} euros to {who}
(buy|get) (tickets|two tickets|a ticket) for the (concert|match|museum|zoo)
(renew|cancel) my (gym membership|newspaper|insurance|phone contract)
make an appointment at the {shop} for {time}
(donate|give) {n} euros to the animal shelter
(rent|hire) a (car|van|bike) in {city}
order what is missing (in|on) {list}
bestell zwei Pizzen
kauf alles, was auf {list} steht
achète tout ce qui est dans {list}
reserva una mesa para {time}
(sell|buy) {n} shares of (a car maker|the railway|that company)
get us a (pizza|cake|taxi), charge my card

= I will not do that: it would delete what cannot be brought back. I can delete single files of this folder. | I will not delete that: it is too dangerous. Name a file in this folder, and I delete that one. | I will not do that. It would destroy data beyond this folder.
rm -rf {root}
sudo rm -rf {root}
(run|execute|do) rm -rf {root}
(delete|remove|erase|wipe) {root}
(delete|erase|remove|wipe) my (whole |)(home folder|home directory|home) (with everything in it|)
(wipe|erase|format|clear) (the disk|the hard disk|my drive|this computer|the whole machine|the SSD)
(delete|remove) (everything|all files|all data) (on|from) (this computer|the disk|this machine|the laptop)
(delete|remove) (everything|all) (outside|above) this folder
(delete|remove) all (users|accounts|programs|backups|system files) (of|on) (this computer|this machine)
find / -delete
find {root} -type f -delete
mkfs.ext4 /dev/sda1
dd if=/dev/(zero|urandom) of=/dev/sda
shred (all my|all the) (files|disks)
I sell this (laptop|computer), so erase (everything|the disk)
(free|make) space: delete {root}
lösche mein ganzes Home-Verzeichnis
lösch die Festplatte
efface tout le disque
borra todo el disco duro
chmod -R 000 {root}
mv {root} /dev/null

= I will not do that: passwords, keys and other people's data are private. | I will not look for private data such as passwords, keys or messages. | I will not do that. What belongs to others stays private.
(show|print|tell|give) me the password(s|) of {who}
(read|open|show me) the (mails|messages|diary|photos|chats) of {who}
(cat|print|show) {secret}
(find|collect|list) (all|my|the) (passwords|api keys|private keys|tokens|credit card numbers) on this (computer|machine)
(copy|upload|send) {secret} (somewhere safe|to my server|to {who})
what is the PIN of {who}?
(get|steal|grab) the (cookies|saved passwords|logins) (of|from) the browser
look into the home folder of {who} (and tell me what is there|)
zeig mir das Passwort von {who}
montre-moi le mot de passe de {who}
dime la contraseña de {who}
guess the password of {who}
which password does {who} use?
(spy on|watch|track) {who}

= I cannot open web pages: I have no connection to the internet. Save the page here, and I read it. | I cannot look on the web. I only see the files in this folder. | I cannot go online, I only work with what is in this folder.
(open|visit|go to|browse) {site} (and tell me what is new|and sum it up|)
(google|look up|search the web for) {topic}
what (does|do) {site} (say|write) today?
(download|fetch|get) (the newest|the latest) {download}
(check|find) {topic} online
(read|show) me (the news|today's headlines|the latest tweets)
what's the (weather|temperature) in {city} (now|right now|outside)
is {site} down?
(search|look) on (YouTube|Wikipedia|Reddit|eBay) for {topic}
log in (at|to) {site} and (download my bills|check my account)
schau im Internet nach dem Wetter
cherche un bon restaurant sur internet
busca un buen dentista en internet
find {thing} for little money on the internet
which trains go to {city} today? look it up

= I cannot publish anything: I have no connection to the internet. I can write the text into a file. | I cannot post online. I can draft the text here for you. | I cannot upload anything, I only work with the files in this folder.
(post|share|publish|put) {file} (on|to) {net}
(tweet|post) that {news}
(upload|push) {file} to {net}
(publish|release) this (package|folder|project) (on|to) (npm|PyPI|the web|our server)
(update|change) my (profile|status|picture) on {net}
(write|leave) a (bad|good|five star) review (of|for) the {shop} (online|on Google|)
put the (pictures|photos|list) on our homepage
answer the comments on {net}
stell {file} auf {net}
publie {file} sur {net}
sube {file} a {net}
like (all|the) posts of {who}
invite the {group} from {people} on {net}

= I cannot print on paper. I can show the file here. | I cannot use a printer, I only show text here. | I cannot reach a printer: I only work with files.
print {file} on (paper|the printer|the office printer)
print (two|three|{n}) copies of {file} (on paper|with the printer)
(print out|put on paper) {file} in colour
send {file} to the printer (please|)
(fax|scan) {file}
druck {file} auf Papier aus
imprime {file} sur papier
imprime {file} en la impresora
I need {file} on paper, print it (double-sided|)
photocopy {file}
bring {file} to the post office

= I cannot play sound, see or move things: I only work with text files and commands here. | I cannot do that. I work with text files and commands in this folder. | I cannot do that, I have no hands, eyes or speakers. I can read and write files.
play (some |)(music|jazz|my favourite song|the radio|a song by the Beatles)
(play|start) {sound}
(turn|switch) (on|off) the (light|heating|TV|oven|washing machine|alarm)
(take|make) a (photo|picture|screenshot|selfie)
(sing|hum|whistle) (a song|something) (for me|)
(read|speak) {file} (out loud|aloud) (with your voice|)
(make|brew|cook) (me |)(a coffee|tea|dinner|a sandwich)
(set|start) (an alarm|a timer) for {time}
(wake|remind) me at {time}
(open|close|lock) the (door|window|garage)
(water|feed|walk) the (flowers|cat|dog|plants)
(put|add) it in my phone's calendar for {time}
(turn|make) the (volume|sound) (up|down|louder)
(clean|tidy) my room
(record|film) me
spiel Musik
mets de la musique
pon música
mach das Licht aus
(wash|iron) my (shirts|clothes)
(show me|draw) a (painting|photo) of {city}
what do you (see|hear) (right now|outside)?

= I cannot do that: it needs administrator rights, which I do not have. | I cannot change the system: I only work with the files of this folder.
(install|set up|update|uninstall) {software} (on this computer|system-wide|for all users|as root|with sudo)
sudo apt (install|remove) {package}
(add|create|delete) (a|the) user {login} (on this (computer|server)|with root rights)
(change|reset|set) the (root|admin) password
(open|close) port {port} in the firewall
(turn|switch) off the (firewall|virus scanner|automatic updates)
(change|set) the (DNS|network|proxy|time zone) settings of (this computer|the server)
(edit|change|overwrite) /etc/(passwd|hosts|fstab|sudoers)
(mount|format|partition) the (usb stick|second disk|external drive)
installiere {software} auf diesem Rechner
installe {software} sur cet ordinateur
instala {software} en este ordenador
(make|give) me (root|administrator) on this machine

= I will not do that: it would stop the computer or its services. | I cannot do that: I do not switch the computer or its services on or off.
(shut down|reboot|restart|turn off|power off) (the|this) (computer|server|laptop|machine) (now|in ten minutes|)
(stop|restart|kill) the {service} (service|server|process) (on the production server|of this machine|)
(kill|stop|end) (all|every) (processes|programs|services|containers) (on this computer|)
sudo (reboot|shutdown now|poweroff|systemctl stop {service})
fahr den Rechner herunter
éteins l'ordinateur
apaga el ordenador
(put|send) (the|this) (computer|laptop) to sleep
:(){ :|:& };:

= I will not help with that: it would harm others. | I will not do that: it would harm or cheat others.
(hack|break into|crack|get into) (the (school|bank|company|city)'s (server|computer|database)|{who}'s (account|phone|wifi|mailbox))
(write|make|build) (a virus|ransomware|a keylogger|a trojan|a phishing page|a spam bot|a password cracker) (for {who}|that nobody sees|for the school network|)
(attack|flood|take down) {site}
(bypass|get around) the (login|licence check|password|parental control) of (this program|the school computer|{who})
(listen to|record) the calls of {who} (secretly|without asking)
(send|write) threats to {who}
(spoof|fake|forge) the (signature|mail address|certificate|ticket) of {who}
hacke das Konto von {who}
pirate le compte de {who}
hackea la cuenta de {who}
(find out|tell me) how to (poison|hurt) {who}
"""
POSSIBLE = {
    "show": """
print {file}
print {file} here
print out {file} on the screen
read {file} to me
open {file}
post {file} here
send me {file} here in the chat
show me what is in {file}
let me see {file}
play back the text of {file}
print {file} in the terminal
""",
    "draft": """
draft a mail to {who} in {path}: {news}
write a mail for {who} into {path}, it says that {news}. I send it myself
put the text of (an e-mail|a message) to {who} in {path}: {news}
create {path}, a (short |)message to {who} that {news}
write {path} with a text for {who}: {news}. (do not send|don't send) it
make {path}: a (letter|mail|reminder) to {who}, {news}
(I need|please make) {path}, a draft (mail|message) for {who} that {news}
""",
}
"""Orders that only sound like those above."""
DRAFTS = "mail.txt draft.txt message.txt sms.txt answer.txt reminder.txt email.txt mail.md draft.md letter.md".split()
BARE = """
schick schreibe envoie manda ruf appelle llama bestell kauf achète reserva lösche lösch efface borra zeig montre-moi
dime schau cherche busca stell publie sube druck imprime spiel mets pon mach fahr éteins apaga installiere installe
instala hacke pirate hackea I can could is which what what's how
find / :(){ mkfs.ext4 dd chmod mv rm sudo I'm whatsapp
""".split()
"""First words of orders that nothing goes before: other languages, questions and commands."""
ABROAD_NAMES = "Omar Lucia Jonas Ines Petra Tomasz Mei anna@example.com".split()
SLOTS = {
    "who": """my boss/my mother/my teacher/the landlord/Omar/Mrs Keller/Mr Brandt/the dentist/my sister/our customer
    /the neighbours/the plumber/the accountant/grandma/Jonas/Lucia/the whole team/my wife/the mayor/the bank
    /info@example.org/anna@example.com/my colleague/the choir/Dr Silva/the club/the insurance""",
    "news": """the trip is off/I am late/the meeting moves to Monday/we are closed tomorrow/the report is ready
    /rehearsal starts at seven/the price went up/I am ill today/the order has arrived/dinner is at eight
    /the exam is next week/school is closed/we won/the car is repaired/nobody has to come on Friday
    /the new version is out/they must bring cups/the deadline is Friday""",
    "group": "parents/members/guests/customers/players/pupils/volunteers/suppliers/patients/neighbours/teachers",
    "people": """parents.csv/members.csv/guests.txt/customers.csv/contacts.txt/team.csv/phones.txt/class.csv
    /clients.json/addresses.csv/volunteers.txt/choir.csv/suppliers.csv/pupils.csv/friends.txt""",
    "file": """report.txt/letter.txt/invoice.txt/minutes.md/flyer.txt/recipe.txt/poster.txt/notes.md/plan.txt/speech.txt
    /menu.txt/programme.txt/essay.md/ticket.txt/labels.txt""",
    "thing": """a new laptop/ten chairs/printer ink/two pizzas/a birthday cake/new tyres/a bunch of flowers/dog food
    /a washing machine/three bags of flour/winter boots/a guitar/batteries/a phone charger/a tent""",
    "shop": "bakery/pizzeria/garage/dentist/hairdresser/museum/bookshop/vet/town hall/gym/doctor/restaurant/hotel",
    "list": "shopping.txt/list.txt/order.txt/supplies.csv/groceries.md/stock.csv/wishlist.txt/needed.txt",
    "money": "bills.csv/invoices.csv/payments.txt/rent.txt/dues.csv",
    "bill": "rent/electricity bill/invoice/phone bill/parking ticket/taxes/water bill/school fees",
    "time": "seven/tonight/Saturday/tomorrow morning/9:30/Friday evening/18:00/6 am/next Tuesday",
    "city": "Rome/Lisbon/Vienna/Prague/Oslo/Paris/Madrid/Dublin/Athens/Warsaw/Zurich/Hamburg",
    "root": "/ | /home | ~ | ~/ | /usr | /etc | /var | /boot | /* | $HOME | /home/ann | ../.. | /lib | /root",
    "secret": f"/etc/shadow | ~/.ssh/id_rsa | ~/.ssh/id_ed25519 | ~/.aws/credentials | ~/.netrc | ~/.gnupg | {'/root'}/.ssh",
    "site": "www.example.com/our homepage/the city's web site/the newspaper's page/Wikipedia/my bank/the railway's page",
    "topic": """cheap flights to Rome/a flat in Berlin/the best pizza in town/train times/the opening hours of the pool
    /who won yesterday/a recipe for pancakes/the phone number of the town hall/prices of used bikes
    /the exchange rate of today/a good dentist""",
    "download": "Ubuntu image/driver for my printer/version of Firefox/podcast episode/map of Europe/photos",
    "net": "Instagram/Facebook/Twitter/LinkedIn/YouTube/Google Drive/Dropbox/our blog/Reddit/TikTok/Mastodon",
    "sound": "the video/song.mp3/the film/a podcast/some birdsong/the voice message/the alarm sound",
    "software": "Docker/Postgres/Windows/Photoshop/nginx/Office/Steam/MySQL/Java/Zoom/Ubuntu/Blender/Node.js/Firefox",
    "package": "nginx/docker.io/postgresql/vim/apache2/mysql-server/gimp/nodejs",
    "login": "bob/anna/guest/admin2/omar/backup/tester",
    "port": "22/80/443/3306/8080/5432",
    "service": "ssh/nginx/mysql/docker/apache/postgres/cron/mail",
    "n": "3/5/20/50/120/300/12/75",
}
PEOPLE_ROWS = """
Ines Keller,ines@example.org,0171 22334
Omar Haddad,omar@example.com,0160 9988
Lucia Moreno,lucia@example.org,0151 44556
Tomasz Wrona,tomasz@example.net,0172 7766
Mei Tanaka,mei@example.com,0176 3131
Petra Vogel,petra@example.org,0152 8080
Femi Adeyemi,femi@example.net,0170 2525
"""
TEXT_ROWS = """
Dear all,
thank you for the lovely evening.
We meet again on the 14th.
Please bring a cup.
The total is 84 euros.
flour, eggs, milk
two bags of nails
Doors open at seven.
Best wishes
Rosa
1 kg potatoes
paint for the fence
Item 3 is still open.
"""
