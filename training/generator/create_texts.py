"""What people want to have written into a file without dictating it word by word."""

# file names | how the list is called | items; all items of a closed list, in order
KNOWN_LISTS = """
weekdays.txt, week.txt, days.md | the days of the week, the seven weekdays, all weekdays | Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday
months.txt, year.txt, calendar.md | the months of the year, the twelve months, all months | January, February, March, April, May, June, July, August, September, October, November, December
seasons.txt, year.md | the four seasons, the seasons of the year | spring, summer, autumn, winter
planets.txt, space.md, solar.txt | the planets of the solar system, the eight planets, all planets from the sun outwards | Mercury, Venus, Earth, Mars, Jupiter, Saturn, Uranus, Neptune
vowels.txt, letters.txt | the five vowels, the vowels | a, e, i, o, u
rainbow.txt, colours.md, colors.txt | the colours of the rainbow, the seven rainbow colours | red, orange, yellow, green, blue, indigo, violet
continents.txt, world.md | the seven continents, all continents | Africa, Antarctica, Asia, Australia, Europe, North America, South America
oceans.txt, seas.md | the five oceans, the oceans of the world | Pacific, Atlantic, Indian, Southern, Arctic
directions.txt, compass.md | the four directions, the points of the compass | north, east, south, west
senses.txt, body.md | the five senses | sight, hearing, smell, taste, touch
notes.txt, music.txt, scale.md | the notes of the C major scale, the seven notes of C major | C, D, E, F, G, A, B
numbers.txt, ten.txt | the numbers from one to ten in words, one to ten as words | one, two, three, four, five, six, seven, eight, nine, ten
suits.txt, cards.txt | the four suits of a card deck, the card suits | hearts, diamonds, clubs, spades
strings.txt, guitar.txt | the strings of a guitar from low to high, the guitar tuning | E, A, D, G, B, E
primes.txt, maths.txt | the first ten prime numbers, ten primes | 2, 3, 5, 7, 11, 13, 17, 19, 23, 29
binary.txt, powers.txt | the powers of two up to 1024, 1, 2, 4 and so on to 1024 | 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024
fingers.txt, hand.md | the five fingers of a hand | thumb, index finger, middle finger, ring finger, little finger
tage.txt, woche.txt | the weekdays in German, the German days of the week | Montag, Dienstag, Mittwoch, Donnerstag, Freitag, Samstag, Sonntag
jours.txt, semaine.txt | the weekdays in French, the French days of the week | lundi, mardi, mercredi, jeudi, vendredi, samedi, dimanche
dias.txt, semana.txt | the weekdays in Spanish, the Spanish days of the week | lunes, martes, miércoles, jueves, viernes, sábado, domingo
giorni.txt, settimana.txt | the weekdays in Italian | lunedì, martedì, mercoledì, giovedì, venerdì, sabato, domenica
monate.txt, jahr.txt | the months in German | Januar, Februar, März, April, Mai, Juni, Juli, August, September, Oktober, November, Dezember
mois.txt, annee.txt | the months in French | janvier, février, mars, avril, mai, juin, juillet, août, septembre, octobre, novembre, décembre
zahlen.txt, deutsch.txt | the German numbers from 1 to 10 | eins, zwei, drei, vier, fünf, sechs, sieben, acht, neun, zehn
nombres.txt, francais.txt | the French numbers from 1 to 10 | un, deux, trois, quatre, cinq, six, sept, huit, neuf, dix
numeros.txt, espanol.txt | the Spanish numbers from 1 to 10 | uno, dos, tres, cuatro, cinco, seis, siete, ocho, nueve, diez
nato.txt, radio.txt | the first six words of the NATO alphabet | Alfa, Bravo, Charlie, Delta, Echo, Foxtrot
""".strip()  # noqa: E501
# file names | how the list is called | possible items, of which the first ones are taken
OPEN_LISTS = """
packing.txt, beach.md, luggage.txt | a packing list for the beach, things to pack for a day at the sea, what I need for the beach | towel, swimsuit, sunscreen, sunglasses, water bottle, hat, book
camping.txt, tent.md | a packing list for camping, what to take along for camping | tent, sleeping bag, torch, stove, matches, water bottle, rain jacket
hike.txt, mountains.md | a packing list for a hike, things to take on a hike | map, boots, water bottle, rain jacket, snacks, first aid kit, sun hat
skiing.txt, winter.md | a packing list for a ski trip | skis, gloves, goggles, helmet, warm socks, lip balm
pancakes.txt, shopping.txt, pancakes.md | a shopping list for pancakes, the ingredients of pancakes, what I need for pancakes | flour, milk, eggs, butter, sugar, salt
pizza.txt, dinner.txt | a shopping list for pizza, the ingredients of a pizza | flour, yeast, tomatoes, mozzarella, olive oil, salt, basil
salad.txt, lunch.md | the ingredients of a Greek salad, a shopping list for a Greek salad | tomatoes, cucumber, feta, olives, red onion, olive oil
breakfast.txt, morning.md | a shopping list for breakfast, things for breakfast | bread, butter, jam, eggs, milk, coffee, oranges
soup.txt, kitchen.md | the ingredients of a vegetable soup, a shopping list for vegetable soup | carrots, leek, celery, potatoes, onions, stock
cake.txt, baking.md | the ingredients of an apple cake, what one needs for an apple cake | apples, flour, butter, sugar, eggs, cinnamon
party.txt, birthday.md | a checklist for a birthday party, things to do before a birthday party | send the invitations, bake a cake, buy drinks, make a playlist, blow up balloons
moving.txt, house.md | a checklist for moving house, what to do before we move | find boxes, pack the books, tell the post office, read the meters, clean the flat
cleaning.txt, spring.md | a cleaning list for the kitchen, a list of things to clean in the kitchen | oven, fridge, sink, floor, windows, bin
exam.txt, study.md | a plan for an exam, steps to prepare for an exam | read the notes, write a summary, make flash cards, do old exams, sleep well
interview.txt, job.md | questions for a job interview, questions I could ask in a job interview | What does a typical day look like?, How large is the team?, When does the job start?, Is there training?
meeting.md, agenda.md, agenda.txt | an agenda for a team meeting, points for a team meeting | welcome, news, open tasks, budget, next date
release.md, checklist.md | a checklist for a release, steps of a software release | run the tests, update the changelog, bump the version, tag the commit, publish the package
garden.txt, spring.txt | a list of garden jobs for spring, things to do in the garden in spring | prune the roses, sow the lettuce, mow the lawn, repair the fence, fill the bird feeder
school.txt, bag.md | what belongs in a school bag, a list for the school bag | pencil case, ruler, notebook, lunch box, water bottle
desk.txt, office.md | office supplies to order, a list of office supplies | pens, paper, staples, folders, envelopes, sticky notes
firstaid.txt, kit.md | what belongs in a first aid kit, a list for the first aid kit | plasters, bandages, scissors, gloves, tape, tweezers
picnic.txt, park.md | a list for a picnic, what to bring for a picnic | blanket, sandwiches, fruit, lemonade, cups, napkins
fruits.txt, fruit.md | some fruits, a few kinds of fruit | apple, banana, cherry, grape, orange, pear
vegetables.txt, veg.md | some vegetables, a few vegetables | carrot, cabbage, leek, onion, potato, spinach
animals.txt, zoo.md | some animals, a few animals | cat, dog, elephant, horse, lion, rabbit
birds.txt, birds.md | some birds, a few kinds of birds | blackbird, eagle, owl, robin, sparrow, swan
trees.txt, forest.md | some trees, a few kinds of trees | beech, birch, fir, maple, oak, pine
instruments.txt, band.md | some musical instruments, a few instruments | drum, flute, guitar, piano, trumpet, violin
sports.txt, sport.md | some sports, a few kinds of sport | basketball, cycling, football, running, swimming, tennis
languages.txt, code.md | some programming languages, a few programming languages | Python, JavaScript, C, Java, Go, Rust
colors.txt, palette.md | some colours, a few colours | red, blue, green, yellow, black, white
tools.txt, workshop.md | some tools for a workshop, a few tools | hammer, saw, screwdriver, drill, pliers, file
jobs.txt, work.md | some jobs, a few professions | baker, doctor, farmer, nurse, pilot, teacher
countries.txt, europe.md | some countries of Europe, a few European countries | France, Germany, Italy, Poland, Portugal, Spain
pets.txt, pets.md | names for a cat, a few cat names | Felix, Luna, Minka, Momo, Simba, Tiger
sleep.md, tips.txt | tips for better sleep, advice for sleeping well | Go to bed at the same time every day., Put the phone away., Drink no coffee in the evening., Keep the room dark and cool.
focus.md, tips.md | tips for working with focus, advice on how to concentrate | Do one thing at a time., Turn off notifications., Take short breaks., Keep the desk tidy.
bike.txt, safety.md | safety rules for cycling, rules for cyclists | Wear a helmet., Use lights at night., Look before you turn., Keep to the right.
lab.md, rules.txt | safety rules for a lab, rules for the laboratory | Wear goggles., Wear a lab coat., Do not eat or drink., Wash your hands.
library.txt, rules.md | rules for a library, house rules for the library | Be quiet., Do not eat., Bring books back on time., Switch off your phone.
password.md, security.txt | tips for good passwords, rules for passwords | Use a long password., Use a different one for each site., Do not share it., Use a password manager.
water.md, saving.txt | tips for saving water, ideas for saving water at home | Take short showers., Close the tap while brushing your teeth., Repair dripping taps., Fill the washing machine.
classroom.md, rules.txt | rules for the classroom, class rules | Listen when others speak., Raise your hand., Be on time., Keep your desk tidy.
""".strip()  # noqa: E501
# Lines of five, seven and five syllables by topic.
HAIKU = """
the sea, sea, the ocean, waves, ocean | Waves roll to the shore / Salt wind over open sea / Blue without an end | Only sand and foam / The tide writes its name in sand / Then it starts again | Quiet evening beach / A gull calls across the bay / Light upon the sea
winter, snow, a winter day | Snow on the dark pines / The river sleeps under ice / Smoke above the roof | Cold and silent night / Every branch is dressed in white / No one on the road | White field, one black crow / Footprints lead across the hill / Then the snow comes back
autumn, fall, leaves, autumn leaves | Red leaves in the wind / They dance once around the yard / And then they lie still | Fog over the field / The last apples on the tree / Days are growing short
spring, cherry blossoms, spring time | Cherry trees in bloom / A bee wakes up in the sun / Winter is over | Rain on the first green / The blackbird sings on the roof / Everything begins
summer, a summer evening | Long warm evening light / Children run across the grass / Nobody goes home | Heat above the street / The old dog sleeps in the shade / Crickets sing all night
rain, a rainy day | Rain against the glass / The garden drinks all night long / Morning smells of earth | Grey clouds hang so low / Umbrellas walk down the street / Puddles hold the sky
coffee, my morning coffee | Steam above the cup / The first sip opens my eyes / Now the day can start
my cat, cats, a cat | Cat on the warm desk / She sleeps on all my papers / No work for today | Two green eyes at night / A shadow jumps from the wall / And nothing is heard
the moon, night, the night | Moon above the lake / The water holds its image / And lets it not go | Stars over the town / Only one window still bright / Someone reads a book
code, programming, computers | Green text on black screen / One semicolon is gone / The night will be long | All my tests are green / I push it and close the lid / Now the phone will ring
mountains, a mountain | Stone above the clouds / The path goes up without end / Then the world is small
tea, a cup of tea | Leaves sink in the cup / The kettle hums its old song / I have time today
music, my guitar, a song | Six strings and warm wood / The last chord hangs in the room / Then the crowd is loud
a garden, my garden, gardening | Hands in the dark soil / One small seed, a little rain / Wait and you will see
bees, a bee | A bee in the rose / The whole garden hums and hums / Gold upon its legs
""".strip()  # noqa: E501
POEMS = """
the moon, night | The moon is round, the moon is bright, / it hangs above my roof tonight. / It shines on you, it shines on me, / and on the quiet apple tree.
rain, bad weather | The rain falls down upon the street, / it wets my hair, it wets my feet. / But I have tea and I have bread, / and soon I will be warm in bed.
my cat, a cat | My cat is grey, my cat is small, / she sleeps all day beside the wall. / At night she wakes and starts to run, / and chases shadows just for fun.
spring, flowers | The snow is gone, the grass is green, / the brightest flowers I have seen. / The birds come back, the days grow long, / and every tree is full of song.
my mother, mom, mum | You dried my tears, you held my hand, / you helped me up so I could stand. / For every day and every year / I thank you, mother, you are dear.
the sea, ships | A little boat upon the sea, / it rocks and rolls and looks at me. / The wind is strong, the sails are white, / it will be home before the night.
coffee, mornings | The morning comes, I cannot see, / so someone make a cup for me. / The coffee is so black and hot, / I think that I will drink the pot.
friends, a friend | A friend is one who stays the night / until the morning brings the light. / A friend will laugh, a friend will share, / and when you fall, a friend is there.
school, homework | The bell has rung, the day is done, / we all go out into the sun. / My homework waits inside my bag, / and there it sleeps beneath a rag.
""".strip()  # noqa: E501
JOKES = """
Why did the bicycle fall over? Because it was two-tired.
Why do programmers like the dark? Because light attracts bugs.
What do you call a bear without teeth? A gummy bear.
Why did the scarecrow win a prize? He was outstanding in his field.
What has four wheels and flies? A garbage truck.
What did the ocean say to the beach? Nothing, it just waved.
Why was the maths book sad? It had too many problems.
What is orange and sounds like a parrot? A carrot.
Why can't a nose be twelve inches long? Because then it would be a foot.
What do you call a sleeping bull? A bulldozer.
""".strip()
