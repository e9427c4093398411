"""Claims and the sources that they cite, invented: wrong ones that look alike, and true ones in other words."""

MINUTES = (
    "Tom will write the report. Priya will test it. Jonas asked for two more weeks, but Elena refused. "
    "The budget for the pilot is 45,000 EUR. The old budget was 38,000 EUR. The release moves to 14 June 2023."
)
CAREER = (
    "Nadia Orlov studied physics in Graz from 2006 to 2011. She joined Halden Optics in 2012 as a test engineer. "
    "In 2016 she moved to Borealis, where she leads a team of 14 people. Her brother Viktor runs a bakery in Linz."
)
SERVICE = (
    "The gateway handles 900 requests per second. A restart takes 12 minutes. All checks passed except the login "
    "check. Memory use fell from 8 GB to 3 GB after the cache was removed. The gateway was rewritten in Rust."
)
FERRY = (
    "The ferry Solveig carries 240 passengers. The ferry Astrid carries 310 passengers. The Solveig was built in "
    "Gdansk in 1998. The Astrid was built in Turku in 2004. A ticket costs 18 euros, and a bicycle costs 4 euros."
)
TRIAL = (
    "The trial enrolled 84 patients in Leeds. Most patients recovered within three weeks. Some patients reported "
    "headaches. The drug was more effective than the placebo. Dr Amara Obi led the trial. The study was funded by "
    "the Wickham Trust."
)
CLUB = (
    "The chess club meets on Tuesdays at 19:00. It was founded by Ruth Adler in 1974 after the war memorial hall "
    "reopened. Membership grew from 30 to 52 in March 2022. The annual dinner was postponed from May to September."
)
DAM = (
    "The north dam is 42 metres high. The south dam is 31 metres high. Engineers first drained the basin and then "
    "repaired the gates. The repair cost 6 million dollars. Inspectors closed the road before the storm arrived."
)

HOUSING = (
    "Sofia Lindqvist chairs the housing committee. Her deputy, Marcus Webb, drafted the rent policy. The committee "
    "met nine times in 2021 and eleven times in 2022. Rents in the old town rose by 6 percent, while rents in the "
    "harbour district fell by 2 percent."
)
TELESCOPES = (
    "The Kestrel telescope has a mirror of 2.4 metres. The Merlin telescope has a mirror of 3.1 metres and sits on "
    "Mount Arden. Kestrel was commissioned in October 2009; Merlin followed in March 2013. Dr Yusuf Demir discovered "
    "the comet with Merlin. Lea Novak confirmed it a week later."
)
OUTAGE = (
    "On Monday the team deployed version 4.2. On Wednesday an outage hit the payment service for 35 minutes. Grace "
    "found the cause, and Dmitri wrote the fix. The search service was not affected. We will keep the old database "
    "until December."
)
BAKERY = (
    "Barley Foods opened a bakery in Cardiff in 2015. Two years later it bought Crumb & Co for 3.2 million pounds. "
    "Sales doubled in 2018, but profits dropped by a quarter. Its founder, Owen Pryce, stepped down in 2020 and "
    "Hannah Reed became chief executive."
)
MARATHON = (
    "The marathon starts at 9 am in front of the town hall. The half marathon starts at 10 am at the lido. Entry "
    "costs 45 pounds for adults and 20 pounds for students. Almost all runners finished within six hours. Kip won the "
    "marathon in 2 hours 14 minutes. Abeba came second."
)
LEASE = (
    "The lease allows dogs but not cats. Tenants must pay the rent before the fifth of each month. The landlord "
    "repairs the roof, and tenants repair the doors. Heating costs are included. The deposit equals two monthly "
    "rents."
)
TEAMS = (
    "Our backend team uses Python, and the mobile team uses Kotlin. Ravi maintains the billing module; Chen maintains "
    "the invoice module. The nightly job imports 2,000 records per hour. It replaced a script that Ulla wrote in "
    "2014. Builds take about 7 minutes on the new runners and 19 minutes on the old ones."
)
CHOIR = (
    "Emma Novotny founded the Otava choir in 1988. Pavel Dvorak has conducted it since 2015. The choir rehearses "
    "every Thursday in Plzen. In 2019 it toured Japan, and in 2023 it toured Canada. Its first recording sold 4,000 "
    "copies, its second only 900."
)
PATIENTS = (
    "Patients in group A received 20 mg twice daily, patients in group B received a placebo. Group A lost 5.2 kg on "
    "average; group B lost 1.1 kg. Three patients in group B withdrew. Side effects were mild. Dr Hana Sato designed "
    "the protocol and Dr Luis Ortega analysed the data."
)
STREET = (
    "The city council voted on 12 April to close Mill Street to cars. Councillor Abbott voted against. Mayor Finch "
    "supported the plan. Buses will run every 15 minutes instead of every 20 minutes. Shops on Mill Street may apply "
    "for a grant of up to 5,000 dollars."
)
ORION = (
    "Orion 3 was released in February 2020. It supports Linux and macOS but not Windows. Orion 4, released in June "
    "2021, added Windows support and dropped support for 32-bit systems. The default timeout is 30 seconds; the "
    "maximum is 120 seconds. Bea wrote the installer after Tomas rewrote the scheduler."
)
RESUME = (
    "I led the data platform group at Norvik from 2017 to 2020. I then joined Tessel as head of analytics. At Tessel "
    "I manage nine analysts. My thesis at Lund dealt with tidal models. I speak Swedish fluently and some Polish."
)
MILL = (
    "The Arno mill burned down in 1921 and was rebuilt in 1926. Its owner, Giulia Conti, sold it to the Bassi family "
    "in 1950. The mill ground wheat until 1968. Today the ground floor houses a museum and the upper floor a "
    "restaurant. Visitors can enter the museum free of charge."
)

WAREHOUSES = (
    "Ines Carvalho manages the Porto warehouse. Rui Lopes manages the Braga warehouse and trains the drivers. The "
    "Porto warehouse stores 12,000 pallets, the Braga warehouse 7,500. In March a fire damaged the Braga roof. "
    "Repairs began in April and ended in July."
)
SAMPLES = (
    "We measured the samples twice. In the first run the error was 3 percent; in the second run it was 1 percent. Dr "
    "Kaya prepared the samples, and Dr Moss ran the spectrometer. The spectrometer was calibrated before each run. "
    "Only the copper samples showed corrosion."
)
VILLAGES = (
    "The village of Lund has a school and two shops. The village of Tveit has no school. A bus connects the two "
    "villages every 40 minutes on weekdays and every 90 minutes on Sundays. The old chapel in Tveit dates from 1702. "
    "The church in Lund was built in 1884."
)
NOVELS = (
    "Keiko wrote her first novel in 1997 and her second in 2003. The first novel won the Aoba prize. The second was "
    "translated into French by Luc Martin. She moved from Osaka to Kyoto in 2001. Her publisher printed 10,000 copies "
    "of the second novel."
)
RELEASE = (
    "Release notes: the export button now works in Firefox. Import of large files is twice as fast. We fixed the "
    "crash that Jonas reported. The dark theme is still experimental. The API limit was raised from 100 to 250 calls "
    "per minute."
)

WRONG = [
    # a person of the sentence beside
    ("person", "Priya will write the report.", MINUTES),
    ("person", "Tom will test the report.", MINUTES),
    ("person", "Elena asked for two more weeks.", MINUTES),
    ("person", "Jonas refused to give two more weeks.", MINUTES),
    ("person", "Viktor joined Halden Optics in 2012.", CAREER),
    ("person", "Viktor leads a team of 14 people.", CAREER),
    ("person", "Viktor studied physics in Graz.", CAREER),
    ("person", "Nadia Orlov runs a bakery in Linz.", CAREER),
    ("person", "Ruth Adler led the trial.", TRIAL + " Ruth Adler checked the data."),
    ("person", "The Wickham Trust led the trial.", TRIAL),
    ("person", "Amara Obi funded the study.", TRIAL),
    ("person", "Omar presented the roadmap.", "Omar opened the meeting. Lucia presented the roadmap."),
    ("person", "Lucia opened the meeting.", "Omar opened the meeting. Lucia presented the roadmap."),
    ("person", "Karin signed the contract with Delvaux.", "Karin drafted the contract. Piet signed it with Delvaux."),
    ("person", "Ben reviews the patches.", "Anna maintains the parser. She also reviews the patches. Ben left."),
    ("person", "Halden Optics hired Viktor as a test engineer.", CAREER),
    ("person", "The Astrid was built in Gdansk.", FERRY),
    ("person", "The ferry Solveig was built in Turku in 2004.", FERRY),
    ("person", "Mira won the prize.", "Mira and Sven entered the contest. Sven won the prize."),
    ("person", "The design was approved by Hugo.", "Hugo drew the design. It was approved by Ines."),
    ("person", "Acme acquired Tilda Labs.", "Tilda Labs acquired Acme in 2015."),
    ("person", "Paulo taught Irina to sail.", "Irina taught Paulo to sail."),
    # a number or a detail of the sentence beside
    ("number", "The ferry Solveig carries 310 passengers.", FERRY),
    ("number", "The ferry Astrid carries 240 passengers.", FERRY),
    ("number", "A bicycle costs 18 euros.", FERRY),
    ("number", "A ticket costs 4 euros.", FERRY),
    ("number", "The north dam is 31 metres high.", DAM),
    ("number", "The south dam is 42 metres high.", DAM),
    ("number", "The budget for the pilot is 38,000 EUR.", MINUTES),
    ("number", "The old budget was 45,000 EUR.", MINUTES),
    ("number", "A restart takes 900 minutes.", SERVICE),
    ("number", "Membership grew from 52 to 30.", CLUB),
    ("number", "She leads a team of 12 people.", CAREER + " Her first team had 12 people."),
    ("number", "The trial enrolled 48 patients in Leeds.", TRIAL),
    ("number", "Memory use fell from 3 GB to 8 GB.", SERVICE),
    ("number", "The club has 74 members.", CLUB),
    ("number", "The repair cost 42 million dollars.", DAM),
    # a unit
    ("unit", "The gateway handles 900 requests per minute.", SERVICE),
    ("unit", "The gateway handles 900 requests an hour.", SERVICE),
    ("unit", "A restart takes 12 seconds.", SERVICE),
    ("unit", "The north dam is 42 feet high.", DAM),
    ("unit", "Memory use fell to 3 MB.", SERVICE),
    ("unit", "The pump moves 12 litres per second.", "The pump moves 12 litres per minute."),
    ("unit", "The plant makes 40 tonnes a day.", "The plant makes 40 tonnes a week."),
    ("unit", "He earns 30 euros a day.", "He earns 30 euros an hour."),
    ("unit", "The sensor reports 5 times per hour.", "The sensor reports 5 times per day."),
    ("unit", "Sales rose by 5 percent.", "Sales rose by 5 percentage points."),
    ("unit", "The lens weighs 200 kg.", "The lens weighs 200 g."),
    ("unit", "The rent is 900 euros a year.", "The rent is 900 euros a month."),
    # a currency
    ("currency", "The budget for the pilot is 45,000 USD.", MINUTES),
    ("currency", "The repair cost 6 million euros.", DAM),
    ("currency", "The repair cost £6 million.", DAM),
    ("currency", "A ticket costs 18 francs.", FERRY),
    ("currency", "The grant was 20,000 crowns.", "The grant was 20,000 euros."),
    # a denial
    ("denial", "The budget for the pilot is not 45,000 EUR.", MINUTES),
    ("denial", "Tom will not write the report.", MINUTES),
    ("denial", "Nobody recovered within three weeks.", TRIAL),
    ("denial", "The gateway was never rewritten in Rust.", SERVICE),
    ("denial", "The bridge is open to cyclists.", "The bridge is not open to cyclists."),
    ("denial", "Carla attended the hearing.", "Carla did not attend the hearing. Her lawyer attended."),
    ("denial", "The village has a doctor.", "The village has no doctor."),
    ("denial", "The tests were able to run offline.", "The tests were unable to run offline."),
    # an order of events
    ("order", "Engineers first repaired the gates and then drained the basin.", DAM),
    ("order", "Inspectors closed the road after the storm arrived.", DAM),
    ("order", "The club was founded before the war memorial hall reopened.", CLUB),
    ("order", "Memory use fell before the cache was removed.", SERVICE),
    ("order", "The audit came before the merger.", "The audit came after the merger."),
    ("order", "She paid the bill and later ordered wine.", "She ordered wine and later paid the bill."),
    # a date
    ("date", "The release moves to 14 July 2023.", MINUTES),
    ("date", "The release moves to 14 June 2022.", MINUTES),
    ("date", "Membership grew in April 2022.", CLUB),
    ("date", "Nadia Orlov studied physics in Graz from 2006 to 2012.", CAREER),
    ("date", "The chess club meets on Thursdays.", CLUB),
    ("date", "The annual dinner was postponed from September to May.", CLUB),
    ("date", "The museum opens in spring.", "The museum opens in autumn."),
    ("date", "She joined Halden Optics in 2016.", CAREER),
    # how many
    ("quantifier", "All checks passed.", SERVICE),
    ("quantifier", "All patients recovered within three weeks.", TRIAL),
    ("quantifier", "All patients reported headaches.", TRIAL),
    ("quantifier", "Few patients recovered within three weeks.", TRIAL),
    ("quantifier", "Every window was cleaned.", "Some windows were cleaned."),
    ("quantifier", "None of the boats returned.", "Most of the boats returned."),
    ("quantifier", "Half of the staff agreed.", "All of the staff agreed."),
    ("quantifier", "The shop always opens on Sundays.", "The shop sometimes opens on Sundays."),
    # which is more
    ("degree", "The drug was less effective than the placebo.", TRIAL),
    ("degree", "The placebo was more effective than the drug.", TRIAL),
    ("degree", "The new pump is slower than the old one.", "The new pump is faster than the old one."),
    ("degree", "The tower is shorter than the church.", "The tower is taller than the church."),
    ("degree", "The lake holds at most 300 boats.", "The lake holds at least 300 boats."),
    ("degree", "The trip took less than 5 hours.", "The trip took more than 5 hours."),
    ("degree", "Fewer than 40 people came.", "More than 40 people came."),
    ("degree", "Rome is warmer than Athens.", "Athens is warmer than Rome."),
    # the contrary
    ("contrary", "The annual dinner was brought forward from May to September.", CLUB),
    ("contrary", "The exam was moved up to Friday.", "The exam was delayed to Friday."),
    ("contrary", "The launch was postponed to 3 May.", "The launch was brought forward to 3 May."),
    ("contrary", "Memory use rose to 3 GB.", SERVICE),
    ("contrary", "The gateway was slowed down by the change.", "The gateway was sped up by the change."),
    ("contrary", "The council rejected the plan.", "The council adopted the plan."),
    ("contrary", "The factory was expanded in 2010.", "The factory was shut down in 2010."),
    ("contrary", "Exports strengthened in the last quarter.", "Exports weakened in the last quarter."),
    ("contrary", "The lamp is switched off at night.", "The lamp is switched on at night."),
    ("contrary", "The feature is enabled by default.", "The feature is disabled by default."),
    ("contrary", "The court upheld the ruling.", "The court overturned the ruling."),
    ("contrary", "Imports from Chile increased.", "Exports from Chile increased."),
    # a place
    ("place", "The trial enrolled 84 patients in York.", TRIAL),
    ("place", "Nadia Orlov studied physics in Linz.", CAREER),
    ("place", "Her brother Viktor runs a bakery in Graz.", CAREER),
    ("place", "The office moved from Porto to Lisbon.", "The office moved from Lisbon to Porto."),
    ("place", "The well is east of the mill.", "The well is west of the mill."),
    ("place", "The Solveig was built in Turku.", FERRY),
    # how sure
    ("modality", "The company will build a plant in Brno.", "The company may build a plant in Brno."),
    ("modality", "The company has built a plant in Brno.", "The company plans to build a plant in Brno."),
    # later sets, of several kinds together
    ("person", "Marcus Webb chairs the housing committee.", HOUSING),
    ("person", "Sofia Lindqvist drafted the rent policy.", HOUSING),
    ("number", "The committee met eleven times in 2021.", HOUSING),
    ("number", "The committee met nine times in 2022.", HOUSING),
    ("contrary", "Rents in the old town fell by 6 percent.", HOUSING),
    ("number", "Rents in the old town rose by 2 percent.", HOUSING),
    ("contrary", "Rents in the harbour district rose by 2 percent.", HOUSING),
    ("place", "Rents in the harbour district rose by 6 percent.", HOUSING),
    ("number", "The Kestrel telescope has a mirror of 3.1 metres.", TELESCOPES),
    ("number", "Merlin was commissioned in October 2009.", TELESCOPES),
    ("person", "Lea Novak discovered the comet.", TELESCOPES),
    ("person", "Yusuf Demir confirmed the comet a week later.", TELESCOPES),
    ("place", "Kestrel sits on Mount Arden.", TELESCOPES),
    ("unit", "The Kestrel telescope has a mirror of 2.4 inches.", TELESCOPES),
    ("person", "Dr Yusuf Demir discovered the comet with Kestrel.", TELESCOPES),
    ("order", "Merlin was commissioned before Kestrel, in 2009.", TELESCOPES),
    ("date", "On Wednesday the team deployed version 4.2.", OUTAGE),
    ("person", "Dmitri found the cause.", OUTAGE),
    ("person", "Grace wrote the fix.", OUTAGE),
    ("denial", "The search service was affected.", OUTAGE),
    ("denial", "The payment service was not affected by the outage.", OUTAGE),
    ("unit", "An outage hit the payment service for 35 hours.", OUTAGE),
    ("date", "We will keep the old database until November.", OUTAGE),
    ("detail", "An outage hit the search service for 35 minutes.", OUTAGE),
    ("date", "On Monday an outage hit the payment service for 35 minutes.", OUTAGE),
    ("contrary", "Profits rose by a quarter in 2018.", BAKERY),
    ("person", "Hannah Reed stepped down in 2020.", BAKERY),
    ("person", "Owen Pryce became chief executive in 2020.", BAKERY),
    ("person", "Crumb & Co bought Barley Foods for 3.2 million pounds.", BAKERY),
    ("currency", "It bought Crumb & Co for 3.2 million euros.", BAKERY),
    ("number", "It bought Crumb & Co for 3.2 billion pounds.", BAKERY),
    ("date", "Barley Foods opened a bakery in Cardiff in 2018.", BAKERY),
    ("number", "Sales tripled in 2018.", BAKERY),
    ("number", "Sales halved in 2018.", BAKERY),
    ("detail", "Profits doubled in 2018.", BAKERY),
    ("person", "Hannah Reed is the founder of Barley Foods.", BAKERY),
    ("number", "The half marathon starts at 9 am.", MARATHON),
    ("place", "The marathon starts at the lido.", MARATHON),
    ("number", "Entry costs 45 pounds for students.", MARATHON),
    ("number", "Entry costs 20 pounds for adults.", MARATHON),
    ("quantifier", "All runners finished within six hours.", MARATHON),
    ("quantifier", "Few runners finished within six hours.", MARATHON),
    ("person", "Abeba won the marathon.", MARATHON),
    ("degree", "Almost all runners finished within six days.", MARATHON),
    ("denial", "The lease allows cats.", LEASE),
    ("denial", "The lease does not allow dogs.", LEASE),
    ("order", "Tenants must pay the rent after the fifth of each month.", LEASE),
    ("detail", "Tenants repair the roof.", LEASE),
    ("detail", "The landlord repairs the doors.", LEASE),
    ("denial", "Heating costs are not included.", LEASE),
    ("contrary", "Heating costs are excluded.", LEASE),
    ("number", "The deposit equals three monthly rents.", LEASE),
    ("unit", "The deposit equals two weekly rents.", LEASE),
    ("detail", "The mobile team uses Python.", TEAMS),
    ("detail", "The backend team uses Kotlin.", TEAMS),
    ("person", "Chen maintains the billing module.", TEAMS),
    ("person", "Ravi maintains the invoice module.", TEAMS),
    ("unit", "The nightly job imports 2,000 records per minute.", TEAMS),
    ("date", "Ulla wrote the script in 2015.", TEAMS),
    ("number", "Builds take about 19 minutes on the new runners.", TEAMS),
    ("person", "Ravi wrote the script in 2014.", TEAMS),
    ("degree", "Builds are slower on the new runners than on the old ones.", TEAMS),
    ("person", "Pavel Dvorak founded the Otava choir.", CHOIR),
    ("person", "Emma Novotny has conducted the choir since 2015.", CHOIR),
    ("detail", "The choir toured Canada in 2019.", CHOIR),
    ("detail", "The choir toured Japan in 2023.", CHOIR),
    ("detail", "The choir rehearses every Tuesday in Plzen.", CHOIR),
    ("number", "Its second recording sold 4,000 copies.", CHOIR),
    ("number", "Its first recording sold 900 copies.", CHOIR),
    ("detail", "The Otava choir was founded in 2015.", CHOIR),
    ("place", "The choir rehearses in Japan.", CHOIR),
    ("detail", "Patients in group B received 20 mg twice daily.", PATIENTS),
    ("detail", "Patients in group A received a placebo.", PATIENTS),
    ("number", "Group B lost 5.2 kg on average.", PATIENTS),
    ("number", "Group A lost 1.1 kg on average.", PATIENTS),
    ("contrary", "Group A gained 5.2 kg on average.", PATIENTS),
    ("detail", "Three patients in group A withdrew.", PATIENTS),
    ("contrary", "Side effects were severe.", PATIENTS),
    ("person", "Luis Ortega designed the protocol.", PATIENTS),
    ("person", "Hana Sato analysed the data.", PATIENTS),
    ("unit", "Group A lost 5.2 pounds on average.", PATIENTS),
    ("contrary", "Mayor Finch opposed the plan.", STREET),
    ("person", "Mayor Finch voted against closing Mill Street.", STREET),
    ("number", "Buses will run every 20 minutes.", STREET),
    ("modality", "Shops on Mill Street will receive a grant of 5,000 dollars.", STREET),
    ("detail", "The council voted on 12 May to close Mill Street.", STREET),
    ("contrary", "The council voted to open Mill Street to cars.", STREET),
    ("currency", "The grant is up to 5,000 euros.", STREET),
    ("person", "Councillor Abbott supported the plan.", STREET),
    ("denial", "Orion 3 supports Windows.", ORION),
    ("contrary", "Orion 4 dropped Windows support.", ORION),
    ("detail", "Orion 3 was released in June 2021.", ORION),
    ("detail", "Orion 4 was released in February 2020.", ORION),
    ("number", "The default timeout is 120 seconds.", ORION),
    ("number", "The maximum timeout is 30 seconds.", ORION),
    ("person", "Tomas wrote the installer.", ORION),
    ("person", "Bea rewrote the scheduler.", ORION),
    ("order", "Bea wrote the installer before Tomas rewrote the scheduler.", ORION),
    ("unit", "The default timeout is 30 minutes.", ORION),
    ("detail", "I led the data platform group at Tessel.", RESUME),
    ("detail", "I joined Norvik as head of analytics.", RESUME),
    ("number", "At Norvik I manage nine analysts.", RESUME),
    ("detail", "I led the data platform group from 2017 to 2021.", RESUME),
    ("detail", "I speak Polish fluently.", RESUME),
    ("detail", "My thesis at Tessel dealt with tidal models.", RESUME),
    ("detail", "The Arno mill burned down in 1926.", MILL),
    ("detail", "The Arno mill was rebuilt in 1921.", MILL),
    ("person", "Giulia Conti bought the mill from the Bassi family in 1950.", MILL),
    ("person", "The Bassi family sold the mill to Giulia Conti.", MILL),
    ("detail", "The mill ground wheat until 1950.", MILL),
    ("place", "The ground floor houses a restaurant.", MILL),
    ("place", "The upper floor houses a museum.", MILL),
    ("denial", "Visitors cannot enter the museum free of charge.", MILL),
    ("person", "Rui Lopes manages the Porto warehouse.", WAREHOUSES),
    ("person", "Ines Carvalho trains the drivers.", WAREHOUSES),
    ("number", "The Braga warehouse stores 12,000 pallets.", WAREHOUSES),
    ("place", "In March a fire damaged the Porto roof.", WAREHOUSES),
    ("date", "Repairs began in July.", WAREHOUSES),
    ("date", "Repairs ended in April.", WAREHOUSES),
    ("date", "In April a fire damaged the Braga roof.", WAREHOUSES),
    ("number", "In the first run the error was 1 percent.", SAMPLES),
    ("number", "In the second run the error was 3 percent.", SAMPLES),
    ("person", "Dr Moss prepared the samples.", SAMPLES),
    ("person", "Dr Kaya ran the spectrometer.", SAMPLES),
    ("order", "The spectrometer was calibrated after each run.", SAMPLES),
    ("quantifier", "All samples showed corrosion.", SAMPLES),
    ("denial", "The copper samples did not show corrosion.", SAMPLES),
    ("place", "The village of Tveit has a school.", VILLAGES),
    ("denial", "The village of Lund has no school.", VILLAGES),
    ("number", "On Sundays the bus runs every 40 minutes.", VILLAGES),
    ("number", "A bus connects the two villages every 90 minutes on weekdays.", VILLAGES),
    ("unit", "A bus connects the two villages every 40 hours on weekdays.", VILLAGES),
    ("date", "The old chapel in Tveit dates from 1884.", VILLAGES),
    ("place", "The old chapel in Lund dates from 1702.", VILLAGES),
    ("date", "The church in Lund was built in 1702.", VILLAGES),
    ("date", "Keiko wrote her first novel in 2003.", NOVELS),
    ("detail", "The second novel won the Aoba prize.", NOVELS),
    ("detail", "The first novel was translated into French by Luc Martin.", NOVELS),
    ("place", "She moved from Kyoto to Osaka in 2001.", NOVELS),
    ("date", "She moved from Osaka to Kyoto in 2003.", NOVELS),
    ("number", "Her publisher printed 10,000 copies of the first novel.", NOVELS),
    ("person", "Luc Martin wrote the second novel.", NOVELS),
    ("contrary", "Export of large files is twice as fast.", RELEASE),
    ("contrary", "Import of large files is twice as slow.", RELEASE),
    ("contrary", "The API limit was lowered from 250 to 100 calls per minute.", RELEASE),
    ("unit", "The API limit was raised to 250 calls per hour.", RELEASE),
    ("number", "The API limit was raised from 250 to 100 calls per minute.", RELEASE),
    ("person", "Jonas fixed the crash.", RELEASE),
]  # fmt: skip

RIGHT = [
    ("Tom will write the report and Priya will test it.", MINUTES),
    ("Priya will test the report.", MINUTES),
    ("The report will be written by Tom.", MINUTES),
    ("Jonas asked for two more weeks.", MINUTES),
    ("Elena refused the two more weeks that Jonas asked for.", MINUTES),
    ("The pilot has a budget of 45,000 euros.", MINUTES),
    ("The pilot's budget is €45,000.", MINUTES),
    ("The budget is 45 thousand EUR, and the old one was 38,000 EUR.", MINUTES),
    ("The release moves to June 14, 2023.", MINUTES),
    ("The release moves to 2023-06-14.", MINUTES),
    ("From 2006 to 2011 Nadia Orlov studied physics in Graz.", CAREER),
    ("Nadia Orlov joined Halden Optics in 2012.", CAREER),
    ("Nadia Orlov joined Halden Optics as a test engineer in 2012.", CAREER),
    ("Nadia leads a team of 14 people at Borealis.", CAREER),
    ("Orlov moved to Borealis in 2016.", CAREER),
    ("At Borealis she leads 14 people.", CAREER),
    ("Viktor runs a bakery in Linz.", CAREER),
    ("Nadia Orlov's brother Viktor runs a bakery in Linz.", CAREER),
    ("Nadia Orlov studied physics in Graz and joined Halden Optics in 2012.", CAREER),
    ("The gateway handles 900 requests a second.", SERVICE),
    ("The gateway handles 900 requests/second.", SERVICE),
    ("It takes 12 minutes to restart.", SERVICE),
    ("The gateway was rewritten in Rust and handles 900 requests per second.", SERVICE),
    ("After the cache was removed, memory use fell from 8 GB to 3 GB.", SERVICE),
    ("All checks but the login check passed.", SERVICE),
    ("All checks passed except for the login check.", SERVICE),
    ("The ferry Solveig carries 240 passengers and was built in Gdansk in 1998.", FERRY),
    ("The Astrid carries 310 passengers.", FERRY),
    ("The Astrid, built in Turku in 2004, carries 310 passengers.", FERRY),
    ("The Solveig was built in 1998 in Gdansk.", FERRY),
    ("A ticket costs €18.", FERRY),
    ("A bicycle costs 4 euros and a ticket costs 18 euros.", FERRY),
    ("84 patients in Leeds were enrolled in the trial.", TRIAL),
    ("In Leeds the trial enrolled 84 patients.", TRIAL),
    ("Most patients recovered within 3 weeks.", TRIAL),
    ("The trial was led by Dr Amara Obi.", TRIAL),
    ("Amara Obi led the trial, which enrolled 84 patients.", TRIAL),
    ("The Wickham Trust funded the study.", TRIAL),
    ("The drug was more effective than the placebo, and most patients recovered within three weeks.", TRIAL),
    ("Headaches were reported by some patients.", TRIAL),
    ("Ruth Adler founded the chess club in 1974.", CLUB),
    ("The chess club was founded in 1974 by Ruth Adler.", CLUB),
    ("The chess club meets at 19:00 on Tuesdays.", CLUB),
    ("In March 2022 membership grew from 30 to 52.", CLUB),
    ("The annual dinner was delayed from May to September.", CLUB),
    ("The annual dinner was moved from May to September.", CLUB),
    ("The north dam is 42 m high.", DAM),
    ("The north dam is 42 metres high and the south dam is 31 metres high.", DAM),
    ("The repair cost $6 million.", DAM),
    ("The basin was first drained, and then the gates were repaired.", DAM),
    ("Before the storm arrived, inspectors closed the road.", DAM),
    ("Engineers drained the basin and then repaired the gates.", DAM),
    ("Lucia presented the roadmap after Omar opened the meeting.",
     "Omar opened the meeting. Lucia presented the roadmap."),
    ("Anna reviews the patches.", "Anna maintains the parser. She also reviews the patches. Ben left."),
    ("Anna maintains the parser and reviews the patches.",
     "Anna maintains the parser. She also reviews the patches. Ben left."),
    ("Sven won the prize.", "Mira and Sven entered the contest. Sven won the prize."),
    ("Ines approved the design.", "Hugo drew the design. It was approved by Ines."),
    ("Acme was acquired by Tilda Labs in 2015.", "Tilda Labs acquired Acme in 2015."),
    ("Paulo was taught to sail by Irina.", "Irina taught Paulo to sail."),
    ("The pump moves 12 l/min.", "The pump moves 12 litres per minute."),
    ("He earns 30 euros per hour.", "He earns 30 euros an hour."),
    ("The plant makes 40 tonnes every week.", "The plant makes 40 tonnes a week."),
    ("The bridge isn't open to cyclists.", "The bridge is not open to cyclists."),
    ("Carla did not attend the hearing.", "Carla did not attend the hearing. Her lawyer attended."),
    ("There is no doctor in the village.", "The village has no doctor."),
    ("The museum opens in the autumn.", "The museum opens in autumn."),
    ("Athens is warmer than Rome.", "In July, Athens is warmer than Rome."),
    ("More than 40 people came to the talk.", "More than 40 people came to the talk at the library."),
    ("The launch was moved up to 3 May.", "The launch was brought forward to 3 May."),
    ("The exam was postponed to Friday.", "The exam was delayed to Friday."),
    ("The feature is turned off by default.", "By default, the feature is turned off."),
    ("The office moved to Porto from Lisbon.", "The office moved from Lisbon to Porto."),
    ("The company may build a plant in Brno.", "The company may build a plant in Brno next year."),
    ("Lena wrote the parser in Go; it parses 300 files per second.",
     "Lena wrote the parser in Go. It parses 300 files per second."),
    ("Dario's café opened in 2019 and employs nine people.",
     "Dario opened a café in 2019. The café employs nine people."),
    ("The archive holds 1,200 letters, of which 300 are from Vienna.",
     "The archive holds 1,200 letters. Of these, 300 are from Vienna."),
    ("Fatima designed the logo and Joris printed it.", "Fatima designed the logo. Joris printed it."),
    ("Kwame leads the Accra office.", "Kwame Mensah is based in Accra. He leads the office there."),
    ("The library was damaged by a flood in 1953.", "In 1953 a flood damaged the library."),
    ("The bridge is 120 metres long and 8 metres wide.", "The bridge has a length of 120 metres. It is 8 metres wide."),
    ("Sofia Lindqvist is the chair of the housing committee.", HOUSING),
    ("Marcus Webb drafted the rent policy.", HOUSING),
    ("The rent policy was drafted by Marcus Webb.", HOUSING),
    ("Marcus Webb is Sofia Lindqvist's deputy.", HOUSING),
    ("In 2022 the committee met eleven times.", HOUSING),
    ("The committee met 9 times in 2021 and 11 times in 2022.", HOUSING),
    ("Old town rents rose by 6%.", HOUSING),
    ("Rents in the harbour district fell by 2 percent.", HOUSING),
    ("Rents rose by 6 percent in the old town but fell by 2 percent in the harbour district.", HOUSING),
    ("Kestrel has a 2.4 metre mirror.", TELESCOPES),
    ("The mirror of the Merlin telescope is 3.1 m.", TELESCOPES),
    ("Merlin, which sits on Mount Arden, has a mirror of 3.1 metres.", TELESCOPES),
    ("The comet was discovered by Yusuf Demir with Merlin.", TELESCOPES),
    ("Kestrel was commissioned in October 2009.", TELESCOPES),
    ("Yusuf Demir discovered the comet, and Lea Novak confirmed it.", TELESCOPES),
    ("Lea Novak confirmed the comet a week later.", TELESCOPES),
    ("Version 4.2 was deployed on Monday.", OUTAGE),
    ("The payment service had an outage of 35 minutes on Wednesday.", OUTAGE),
    ("Grace found the cause.", OUTAGE),
    ("Dmitri wrote the fix and Grace found the cause.", OUTAGE),
    ("The search service wasn't affected.", OUTAGE),
    ("The old database will be kept until December.", OUTAGE),
    ("On Wednesday the payment service was hit by a 35-minute outage.", OUTAGE),
    ("In 2015 Barley Foods opened a bakery in Cardiff.", BAKERY),
    ("Barley Foods bought Crumb & Co for £3.2 million.", BAKERY),
    ("Crumb & Co was bought by Barley Foods for 3.2 million pounds.", BAKERY),
    ("Owen Pryce stepped down in 2020.", BAKERY),
    ("Hannah Reed became chief executive in 2020.", BAKERY),
    ("Sales doubled in 2018 but profits dropped by a quarter.", BAKERY),
    ("Owen Pryce, the founder of Barley Foods, stepped down in 2020.", BAKERY),
    ("Hannah Reed became chief executive after Owen Pryce stepped down.", BAKERY),
    ("The half marathon starts at the lido at 10 am.", MARATHON),
    ("Adults pay 45 pounds and students pay 20 pounds.", MARATHON),
    ("Entry costs 20 pounds for students.", MARATHON),
    ("Kip won the marathon in 2 hours 14 minutes.", MARATHON),
    ("The marathon was won by Kip, and Abeba came second.", MARATHON),
    ("Almost all runners finished within 6 hours.", MARATHON),
    ("The town hall is where the marathon starts at 9 am.", MARATHON),
    ("Dogs are allowed by the lease, but cats are not.", LEASE),
    ("The lease allows dogs.", LEASE),
    ("Rent must be paid before the fifth of each month.", LEASE),
    ("The landlord repairs the roof.", LEASE),
    ("Tenants repair the doors, and the landlord repairs the roof.", LEASE),
    ("The deposit is two monthly rents.", LEASE),
    ("Heating costs are included.", LEASE),
    ("The mobile team uses Kotlin.", TEAMS),
    ("The backend team uses Python and the mobile team uses Kotlin.", TEAMS),
    ("Ravi maintains the billing module and Chen the invoice module.", TEAMS),
    ("The nightly job imports 2000 records an hour.", TEAMS),
    ("Ulla wrote the script in 2014.", TEAMS),
    ("The nightly job replaced a script by Ulla.", TEAMS),
    ("On the new runners builds take about 7 minutes.", TEAMS),
    ("Builds take 19 minutes on the old runners.", TEAMS),
    ("The Otava choir was founded by Emma Novotny in 1988.", CHOIR),
    ("Pavel Dvorak has conducted the choir since 2015.", CHOIR),
    ("Since 2015 Pavel Dvorak has conducted the Otava choir.", CHOIR),
    ("The choir toured Japan in 2019 and Canada in 2023.", CHOIR),
    ("The choir toured Canada in 2023.", CHOIR),
    ("In Plzen the choir rehearses every Thursday.", CHOIR),
    ("The first recording sold 4,000 copies.", CHOIR),
    ("Emma Novotny founded the choir, which Pavel Dvorak conducts.", CHOIR),
    ("Group A received 20 mg twice daily.", PATIENTS),
    ("Group B received a placebo.", PATIENTS),
    ("Group A lost 5.2 kg on average, while group B lost 1.1 kg.", PATIENTS),
    ("On average, group B lost 1.1 kg.", PATIENTS),
    ("Hana Sato designed the protocol.", PATIENTS),
    ("The data were analysed by Dr Luis Ortega.", PATIENTS),
    ("Three patients withdrew from group B.", PATIENTS),
    ("The protocol was designed by Dr Hana Sato, and Dr Luis Ortega analysed the data.", PATIENTS),
    ("On 12 April the city council voted to close Mill Street to cars.", STREET),
    ("Mayor Finch supported the plan, but Councillor Abbott voted against.", STREET),
    ("Buses will run every 15 minutes.", STREET),
    ("Shops on Mill Street may apply for a grant of up to $5,000.", STREET),
    ("The council voted on April 12 to close Mill Street.", STREET),
    ("Orion 3 came out in February 2020.", ORION),
    ("Orion 4 was released in June 2021.", ORION),
    ("Orion 3 does not support Windows.", ORION),
    ("The default timeout is 30 seconds and the maximum is 120 seconds.", ORION),
    ("Tomas rewrote the scheduler.", ORION),
    ("Bea wrote the installer.", ORION),
    ("Orion 4 added support for Windows.", ORION),
    ("From 2017 to 2020 I led the data platform group at Norvik.", RESUME),
    ("I manage nine analysts at Tessel.", RESUME),
    ("I joined Tessel as head of analytics.", RESUME),
    ("I speak fluent Swedish and some Polish.", RESUME),
    ("At Lund my thesis dealt with tidal models.", RESUME),
    ("The Arno mill burned down in 1921.", MILL),
    ("The mill was rebuilt in 1926.", MILL),
    ("Giulia Conti sold the mill to the Bassi family in 1950.", MILL),
    ("In 1950 the Bassi family bought the mill from Giulia Conti.", MILL),
    ("The mill ground wheat until 1968.", MILL),
    ("The ground floor houses a museum.", MILL),
    ("The museum can be entered free of charge.", MILL),
    ("A museum is on the ground floor and a restaurant on the upper floor.", MILL),
    ("Ines Carvalho manages the warehouse in Porto.", WAREHOUSES),
    ("The Porto warehouse is managed by Ines Carvalho.", WAREHOUSES),
    ("Rui Lopes trains the drivers.", WAREHOUSES),
    ("The Porto warehouse stores 12,000 pallets.", WAREHOUSES),
    ("A fire damaged the Braga roof in March.", WAREHOUSES),
    ("The repairs began in April and ended in July.", WAREHOUSES),
    ("The error was 3 percent in the first run.", SAMPLES),
    ("In the second run the error was 1%.", SAMPLES),
    ("The samples were prepared by Dr Kaya.", SAMPLES),
    ("Dr Moss ran the spectrometer.", SAMPLES),
    ("Before each run the spectrometer was calibrated.", SAMPLES),
    ("The copper samples showed corrosion.", SAMPLES),
    ("We measured the samples two times.", SAMPLES),
    ("Lund has a school and two shops.", VILLAGES),
    ("Tveit has no school.", VILLAGES),
    ("On weekdays a bus connects the two villages every 40 minutes.", VILLAGES),
    ("The old chapel in Tveit is from 1702.", VILLAGES),
    ("The church in Lund was built in 1884.", VILLAGES),
    ("The bus runs every 90 minutes on Sundays.", VILLAGES),
    ("Keiko's first novel won the Aoba prize.", NOVELS),
    ("Keiko wrote her second novel in 2003.", NOVELS),
    ("In 2001 Keiko moved from Osaka to Kyoto.", NOVELS),
    ("Luc Martin translated the second novel into French.", NOVELS),
    ("10,000 copies of the second novel were printed.", NOVELS),
    ("The export button works in Firefox now.", RELEASE),
    ("Large files import twice as fast.", RELEASE),
    ("The crash reported by Jonas was fixed.", RELEASE),
    ("The API limit was raised to 250 calls a minute.", RELEASE),
    ("The dark theme is experimental.", RELEASE),
]  # fmt: skip
