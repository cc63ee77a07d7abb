"""Long lists of made-up people, towns and things, so that no single one is learnt by heart."""

FIRST_NAMES = """
Ada Aiko Alba Amara Amir Anders Anouk Arjun Astrid Ayşe Bartek Beatriz Bella Bilal Björn Brigitte Callum
Camille Carla Cem Chidi Chloé Ciara Clara Dafne Daniela Dario Diego Dilara Dorota Ebba Efe Elena Elias
Elodie Emeka Emre Enzo Erik Esther Fatima Felix Finn Florian Francesca Freya Gabriel Gemma Goran Gudrun Hana
Hassan Heidi Helga Hiro Hugo Ibrahim Ida Ilse Inés Ioana Isla Ismail Ivan Jakub Jana Jasper Javier João
Johanna Jorge Jürgen Kaito Karim Katrin Kenji Kirsten Klara Kofi Lars Layla Leila Lena Leo Lina Livia
Lorenzo Lotte Lucía Luka Maeve Magda Malik Mara Marek Marta Mateo Matilda Maya Mehmet Mei Mika Mila Milan
Mira Moritz Nadia Naomi Nasrin Niamh Nico Nils Noor Noah Nora Olga Oskar Otto Paula Pavel Pedro Petra Pia
Piotr Rafael Rania Rasmus Renée Rohan Rosa Ruben Sade Sam Sanne Sara Sean Selma Sigrid Silvia Simon Sofia
Soledad Sören Stefan Sven Tariq Tessa Theo Thandi Tilda Tim Tomás Uma Ursula Vera Viktor Viola Walid Wendy
Willem Xenia Yasmin Yuki Yusuf Zara Zoé Zofia
""".split()
SURNAMES = """
Abbott Acosta Adeyemi Ahmed Almeida Andersen Aoki Arslan Baptiste Barros Becker Bellini Berg Bianchi Blanc
Bosch Braun Brennan Byrne Calvo Carter Castillo Chan Charpentier Cohen Conti Costa Dahl Delacroix Demir
Diallo Dietrich Doyle Duarte Eriksson Esposito Fischer Fitzgerald Fontaine Forsberg Fuchs Gallo García
Georgiou Goldberg Gomes Grant Greco Gruber Haas Hansen Hartmann Hayashi Hernández Hoffmann Holm Horvat
Hughes Ibáñez Ito Ivanova Jansen Jensen Johansson Kaplan Kaur Keller Khan Kim Klein Kovács Krause Kruger
Lange Larsen Laurent Lefèvre Lehmann Lindgren Lombardi Lopez Lund Maier Mancini Martens Mazur Meyer Molina
Mori Moser Müller Murphy Nakamura Navarro Nguyen Nielsen Nowak Núñez Oliveira Olsen Ortega Osei Östberg Park
Patel Pereira Peters Popescu Quinn Ramos Reyes Ricci Rossi Roux Ruiz Ryan Sato Schäfer Schmidt Sharma Silva
Singh Sokolov Soto Steiner Strand Suzuki Svensson Takeda Teixeira Thomsen Torres Turner Vargas Vidal Vogel
Wagner Walsh Weber Winter Wolf Wójcik Yamada Young Zhang Ziegler
""".split()
TOWNS = """
Aachen Aberdeen Alicante Amiens Antwerp Arles Augsburg Basel Bath Bergamo Bern Bolton Bordeaux Bremen Bruges
Brünn Burgos Cádiz Calais Cardiff Chur Coimbra Como Córdoba Dakar Delft Derry Dijon Dresden Dundee Durham
Eger Essen Évora Exeter Faro Ferrara Freiburg Galway Gdynia Genoa Geneva Girona Göttingen Grenoble Haarlem
Hamar Innsbruck Izmir Jena Kassel Kiel Koblenz Kraków Lausanne Leiden León Liège Linz Łódź Lübeck Lucca
Lugano Mainz Málaga Mérida Metz Modena Namur Nancy Nantes Nîmes Odense Oulu Oviedo Padua Parma Passau Pécs
Perugia Plauen Ponte Prato Reims Rennes Rostock Rouen Salzburg Segovia Siena Split St.Gallen Tampa
Thessaloniki Toledo Toruń Trento Trier Trondheim Tübingen Turku Uppsala Utrecht Valencia Verona Vigo Vilnius
Weimar Worms York Zürich Zwolle
""".split()
GOODS = """
apple anchor apron almond armchair backpack bagel balloon barley basket bathtub beetle belt bench berry
bicycle blanket blender boot bottle bowl bracelet bread brick broom brush bucket bulb button cabbage cable
cactus cake camera candle canoe carpet carrot chain chair cheese cherry chimney clamp cloud coat coconut
comb compass cookie copper cork couch crate crayon cup curtain cushion dagger desk diary dish doll donkey
door drawer dress drum dustpan easel elbow envelope eraser fan feather fence fiddle flag flask flour flute
fork fountain fridge funnel garlic gate ginger glass globe glove glue goose grape guitar hammer hammock
harbour harp hat hedge helmet honey hook horn jacket jar jigsaw kayak kettle key kite ladder lamp lantern
leaf lemon lentil lever lighter lime lock magnet mango map marble mask mattress meadow melon mirror mitten
mop mortar mug mushroom napkin needle nettle noodle oar olive onion orange oven oyster paddle pan panda
parrot pastry peach pear pebble pencil pepper piano pickle pillow pine plate plum pocket poppy pot potato
puddle pulley pump pumpkin puzzle quilt rabbit radish raft raisin rake ribbon ring robot rocket rope ruler
saddle sail salad sandal saw scarf scissors screw shelf shell shovel sieve skate sled soap sock sofa spade
spoon sponge stamp stool stove straw sugar suitcase table tape teapot tent thimble ticket tile toaster tongs
torch towel tower train tray trolley trumpet tulip tunnel turnip umbrella valve vase vest violin wagon
wallet walnut watch wheel whistle window wrench yarn zipper
""".split()
INTERJECTIONS = """
Go Start Liftoff Done Boom Hop Zap Ping Pong Cheers Hurray Finish Bingo Kaboom Ready Hello Hi Welcome Ahoy
Salut Hola Ciao Moin Servus Tick Tock Buzz Fizz Hey Jump Clap Stop Splash Beep Howdy Bonjour Ding Dong
""".split()
STREETS = (
    """
Abbey Road, Am Markt, Bahnhofstraße, Birch Lane, Bridge Street, Calle Luna, Canal Walk, Castle Hill,
Chapel Row, Church Lane, Fischergasse, Forest Drive, Garden Close, Gartenweg, Hafenstraße, High Street,
Hill Road, Kirchplatz, Lake View, Lime Avenue, Market Square, Meadow Way, Park Lane, Plaza Real,
Queen Street, Rua Nova, Rue de la Paix, Rue du Port, Schulweg, Sea Road, Station Road, Steep Street,
Via Garibaldi, Via Roma, Victoria Terrace, Vine Street, Waldweg, West End, Willow Court, Wood Street
""".replace("\n", " ")
    .strip()
    .split(", ")
)
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MONTHS = "January February March April May June July August September October November December".split()
