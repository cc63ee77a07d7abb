# ruff: noqa: E501
"""Orders that are too large, composed from parts: programs, books, whole collections, ports, migrations."""

LARGE = """
(write|build|create|make|develop|program|implement|code|design and build) (me |us |) {system}
(write|build|create|make|develop|program|implement) {system} {with_}
(I|we) (need|want|would like) {system} {with_}
(can|could|would) you (write|build|make|create|develop) {system} {with_}?
{system} {with_}, (please|from scratch|all of it|in this folder|by tomorrow)
(set up|start|make) a (new |)(project|repository) with {system} {with_}
(turn|develop) (this|my (idea|script|notes|spreadsheet)) into {system}
(my|our) (boss|customer|school|club|start-up|professor|uncle) (wants|needs) {system} {with_}. (build it|write it|please do it)
(write|generate|give me) (the|all the|the complete) (code|source code) (of|for) {system}
(port|translate|convert|rewrite|migrate) (the whole|the entire|the complete|all of the|our whole) {thing} (from {lang} |)(to|in) {lang2}
(port|translate|convert|rewrite) {thing_all} (to|into) {lang2}
I (want|need) (our|the) {thing} in {lang2} (instead of {lang}|), (all of it|every file|completely)
(migrate|move) (our|the whole) {thing} from {tech} to {tech2}
(write|compose) (me |) (a|an) {pages} {book} (about|on) {subject}
(write|finish|complete) my {work} (about|on) {subject}(, {pages2} pages| with all sources| for me|)
(write|create|make) (a|the) (complete|whole|full) {book} (about|on) {subject}
I (need|have to hand in) (a|an) {pages} {book} (about|on) {subject}. (write it|please write it|can you do it?)
translate (my|this|the) (whole|entire|complete) (book|novel|thesis|manual|website|documentation) (into|to) {tongue}
translate all {many} (pages|chapters|files|letters|documents) (into|to) {tongue}
(summarise|read|analyse|compare|review|rewrite|correct) all {many} (papers|chapters|contracts|files|books|protocols|reports)
(refactor|restructure|rewrite|modernise|clean up|optimise|redesign) (the|our|my) (whole|entire|complete) {thing}
(find and fix|fix|repair|remove) (all|every single one of the) (bugs|errors|security holes|performance problems|memory leaks) (in|of) (the|our|my) {thing}
(write|add) (tests|unit tests|documentation|docstrings|type hints) for (the whole|every function of the|all modules of the|the complete) {thing}
(add|build in) {feature} (to|into) (the|our|my) {thing}
(train|build) (a|an) (neural network|language model|AI|deep learning model|image classifier) (that|which) {ai}
(plan|prepare|organise) (the complete|the whole|our entire) {event} (with budget, schedule and all texts|in every detail|from A to Z)
(create|write|prepare) (all|the whole) (lessons|teaching material|worksheets) (for|of) (a|the) (school year|whole term|course of 40 hours) (in|on) {subject}
(do|make) (my|the complete) (tax declaration|bookkeeping|annual accounts|business plan|market analysis) (for last year|for our firm|with all documents|)
"""
PARTS = {
    "system": """
    a web shop/an online shop for {goods}/a marketplace for {goods}/a complete shop system/a booking system for {places}
    /a booking app for {places}/a reservation platform for {places}/an app for {places}/a management system for {places}
    /a website with members' area for {places}/a payroll program for {places}/an inventory system for {places}
    /a mobile app (for iOS and Android|for phones|with a server)/an operating system/a compiler for {plang}/an interpreter for {plang}
    /a game engine/a 3D game/a {game} game with (levels, enemies and music|online multiplayer|a level editor)
    /an online {game} game/a chess program with a neural network/a web browser/a search engine/a social network (for {people}|)
    /a messenger (like WhatsApp|like Signal|with end-to-end encryption)/a video (platform|portal) (like YouTube|)/a streaming service for music
    /a database (engine|server)/a text editor like (Vim|VS Code|Word)/a spreadsheet program/a (photo|video|sound) editing program
    /an e-mail (client|server)/a chat server with web client/a learning platform for {people}/a dating app for {people}
    /a crypto wallet/a stock trading bot/a payment provider/a banking app/an ERP system/a CRM (system|) (for {places}|)
    /a ticket shop with seat map/a delivery service app/a ride sharing app/a navigation app/a fitness tracker app (with a feed|)
    /an emulator for (the C64|the NES|the Game Boy|an old console)/a virtual machine/a programming language/a debugger/a package manager
    /a container orchestrator/a cloud platform/a distributed file system/a version control system like Git/a web framework/a CMS
    /a speech assistant/a translation system/a chatbot that knows (all our documents|everything)/a robot control system
    /a smart home (platform|server with app)/a flight simulator/a physics engine/a ray tracer with GPU support
    /a music (production|notation) program/a synthesizer plugin with graphical interface/a voting system for {people}
    """,
    "goods": "shoes/books/wine/bikes/flowers/toys/concert tickets/furniture/spare parts/handmade soap/used instruments/vegetables",
    "places": """hotels/hospitals/schools/dentists/restaurants/libraries/hairdressers/sports clubs/museums/camping sites/music schools
    /car rentals/kindergartens/gyms/cinemas/law firms/a nursing home/farms/bakeries/a theatre/ski schools/vets""",
    "people": "cooks/students/teachers/gardeners/musicians/hikers/dog owners/nurses/parents/chess players/collectors/translators",
    "game": "role-playing/strategy/racing/football/card/platform/space/puzzle/farming/detective/battle royale",
    "plang": "C/Pascal/a subset of Python/Lisp/my own language/JavaScript/Java/BASIC/Rust",
    "with_": """with user accounts and payment/with login and admin area/with a backend, a frontend and apps/with full test coverage
    /with a database, an API and a web interface/in Rust/in Java/with React and Node/in Go with Postgres/for ten thousand users
    /for iOS and Android/ready for production/with charts, reports and export to PDF/with chat and video calls/in twelve languages
    /with documentation and deployment/that works offline and online/with barcode scanner and invoices/, everything included
    /like the big ones have/with AI features/on Kubernetes/in C++ with a graphical interface/////""",
    "thing": """app/project/code base/program/game/website/shop/backend/frontend/library/application/server/firmware/repository
    /web shop/framework/simulation/compiler/plugin/data pipeline/monolith/system""",
    "thing_all": """all {many} files/everything here/every file of this project/the complete source code/all our scripts and programs
    /the backend and the frontend/our game with all levels/all modules and their tests""",
    "lang": "Python/Java/C++/PHP/JavaScript/Perl/COBOL/C#/Fortran/Visual Basic/Delphi/Ruby/Objective-C/Matlab/R",
    "lang2": "Rust/Go/TypeScript/Kotlin/Swift/C/Julia/Elixir/Zig/Scala/Haskell/Dart/C++20/Python 3/Java 21",
    "tech": "MySQL/Angular/jQuery/Django/Subversion/our own server/Oracle/Flask/Symfony/Windows/MongoDB/Excel sheets",
    "tech2": "Postgres/React/Vue/FastAPI/Kubernetes/the cloud/microservices/Spring Boot/Next.js/Linux/AWS/SQLite with sync",
    "pages": "20 page/50 page/80 page/100 page/200 page/300 page/40-page/10,000 word/5000 word/twelve chapter/thirty chapter",
    "pages2": "30/50/60/80/100/120/250",
    "book": """novel/textbook/thesis/handbook/manual/cookbook/crime story/fantasy novel/biography/report/study/guide/script/scientific paper
    /encyclopedia/screenplay/essay/dissertation/children's book/musical/opera libretto""",
    "work": "thesis/bachelor thesis/master thesis/PhD thesis/dissertation/term paper/novel/book/habilitation/seminar paper",
    "subject": """climate change/the French Revolution/machine learning/gardening/ancient Rome/my grandmother's life/dragons/quantum physics
    /organic chemistry/nursing care/the history of jazz/bees/federated learning/migration/digital health/algebra/modern art
    /sailing around the world/the economy of Africa/urban traffic/vaccines/medieval cities/solar energy/football tactics/baking""",
    "many": "40/60/80/120/200/300/350/500/1000/2,000",
    "tongue": "German/English/French/Spanish/Italian/Japanese/Polish/Dutch/Portuguese/ten languages",
    "feature": """multiplayer/user accounts, login and payment/a plugin system/an AI opponent/video calls/end-to-end encryption/live chat and maps
    /a complete undo system and cloud sync/a marketplace/support for all platforms/a scripting language/single sign-on with all providers""",
    "ai": """recognises my handwriting/writes like Goethe/detects cancer on X-rays/plays chess/understands my dog/predicts share prices
    /generates music/drives a car/recognises faces at our door/translates sign language/answers all customer mails""",
    "event": "wedding/congress/school festival/world tour/move of the company/summer camp/city marathon/trade fair/election campaign",
}
LARGE_ABROAD = {
    "de": """
(schreib|bau|programmiere|entwickle|erstelle) (mir |uns |)(einen kompletten Webshop|eine App für iOS und Android|ein Betriebssystem|einen Compiler für C|eine Spiele-Engine|ein Buchungssystem für Hotels|ein soziales Netzwerk|eine Lernplattform mit Konten und Bezahlung|ein Warenwirtschaftssystem|einen Browser|eine Verwaltung für die ganze Schule)
(schreib|verfasse) (meine (Masterarbeit|Bachelorarbeit|Doktorarbeit)|einen Roman mit 300 Seiten|ein Lehrbuch über Algebra|ein Handbuch von 80 Seiten|ein ganzes Drehbuch)
(portiere|übersetze|schreib) (das ganze Projekt|den ganzen Code|die komplette Anwendung) (nach|in) (Rust|Go|TypeScript|Kotlin)(| um)
übersetze (das ganze Buch|alle 200 Dateien|die gesamte Dokumentation) ins (Englische|Französische|Spanische)
(finde und behebe|behebe) alle Fehler im (ganzen Projekt|gesamten Code)
""",
    "fr": """
(écris|crée|développe|programme|fais) (-moi |)(une boutique en ligne complète|une application pour iOS et Android|un système d'exploitation|un compilateur C|un moteur de jeu 3D|un site de réservation pour hôtels|un réseau social|une plateforme de cours avec paiement|un logiciel de comptabilité)
(écris|rédige) (mon mémoire de master|ma thèse|un roman de 300 pages|un manuel de 80 pages|un scénario de deux heures)
(porte|réécris|convertis) (tout le projet|tout le code|toute l'application) en (Rust|Go|TypeScript|Kotlin)
traduis (tout le livre|les 200 fichiers|toute la documentation) en (anglais|allemand|espagnol)
corrige tous les bugs (du projet|de l'application)
""",
    "es": """
(escribe|crea|desarrolla|programa|haz) (una tienda online completa|una app para iOS y Android|un sistema operativo|un compilador de C|un motor de juegos 3D|una plataforma de reservas para hoteles|una red social|una plataforma de cursos con pagos|un programa de contabilidad)
(escribe|redacta) (mi tesis|mi trabajo de fin de grado|una novela de 300 páginas|un manual de 80 páginas)
(porta|reescribe|convierte) (todo el proyecto|todo el código|toda la aplicación) a (Rust|Go|TypeScript|Kotlin)
traduce (todo el libro|los 200 archivos|toda la documentación) al (inglés|alemán|francés)
corrige todos los errores del proyecto
""",
    "it": """
(scrivi|crea|sviluppa|programma) (un negozio online completo|un'app per iOS e Android|un sistema operativo|un compilatore C|un motore di gioco 3D|una piattaforma di prenotazione per hotel|un social network)
(scrivi|redigi) (la mia tesi|un romanzo di 300 pagine|un manuale di 80 pagine)
(porta|riscrivi|converti) (tutto il progetto|tutto il codice|tutta l'applicazione) in (Rust|Go|TypeScript|Kotlin)
traduci (tutto il libro|i 200 file|tutta la documentazione) in (inglese|tedesco|francese)
""",
}
LARGE_ANSWERS_IT = "È troppo per un modello delle mie dimensioni. Collegane uno più grande con bridle init."
SMALL = """
(delete|remove|erase) {path}
{path} (can go|is not needed any more, delete it|is old, remove it)
(please|) (get rid of|throw away) {path}
rm {path}
(I don't need|nobody needs) {path} any more, (delete|remove) it
(can|could) you (delete|remove) {path}?
lösche {path}
supprime {path}
borra {path}
"""
SMALL_NAMES = """old copy backup draft temp test notes_old report_old list2 data_old unused junk sample example try1 version1 todo_old
letter_2019 plan_b menu_old songs_old scores_bak photo_list addresses_old results_old obsolete spare trash scratch""".split()
SMALL_ENDINGS = ".txt .txt .md .csv .json .log .bak .py .html .tmp .toml .sql".split()
SMALL_FOLDERS = ["", "", "", "", "notes/", "old/", "data/", "drafts/", "tmp/", "docs/", "archive/", "logs/"]
