"""Small files of settings in several notations, with the line and the spoken name of each key."""

import json
from dataclasses import dataclass
from random import Random

from training.generator.folder_words import POOLS, entries

# key | spoken names | possible values
KEYS = entries("""
port | port, port number | 8080,3000,5000,8443,9090,1883
timeout | timeout, time limit | 5,10,15,30,60,90
host | host, host name | localhost,0.0.0.0,db.local,10.0.0.5,nas.lan
log_level | log level, logging level | debug,info,warn,error
workers | number of workers, workers | 1,2,4,8,16
retries | number of retries, retries | 0,1,3,5,7
cache_size | cache size, size of the cache | 64,128,256,512
language | language | en,de,fr,es,it,pt
theme | theme, colour theme | dark,light,solarized,sepia
volume | volume | 20,35,50,70,85
speed | speed | 1,2,3,5,8
width | width | 640,800,1024,1280
height | height | 480,600,720,768
title | title | Orchard,Night Bus,Tide Pool,Home,Field Notes
author | author | Ingrid Bakker,Oleg Petrov,Farah Moreau,Jonas Tanaka
currency | currency | EUR,USD,CHF,GBP,JPY
tax_rate | tax rate, rate of tax | 7,8.1,19,20,21
interval | interval, polling interval | 10,30,60,300,600
max_users | maximum number of users, user limit | 10,25,50,100,500
backup_dir | backup folder, folder for backups | /srv/backup,backups,/mnt/nas,archive
time_zone | time zone | Europe/Berlin,UTC,Asia/Tokyo,America/Lima
difficulty | difficulty | easy,normal,hard
lives | number of lives, lives | 3,4,5,9
threshold | threshold | 0.2,0.5,0.75,12,40
model | model | A300,B12,X7,nova,atlas
region | region | north,south,eu-west,ap-south
colour | colour | red,teal,navy,amber
font_size | font size, size of the font | 10,11,12,14,16
batch_size | batch size | 8,16,32,64
debug | debug switch, debug mode | true,false
unit | unit | celsius,metric,imperial,litres
delay | delay | 50,100,250,500
""")
ENDINGS = ("toml", "ini", "yaml", "json", "env", "conf", "cfg", "properties")
NAMES = "config settings app server options defaults player camera sensor mail game site robot radio".split()


@dataclass(frozen=True)
class SettingsFile:
    """A file of settings."""

    path: str
    text: str
    values: dict[str, str]
    """The values by key, as the file shows them, without quotes."""

    @property
    def keys(self) -> list[str]:
        """The keys in the order of the file."""
        return list(self.values)

    def line_of(self, key: str) -> int:
        """Return the number of the line of a key."""
        rows = self.text.split("\n")
        return next(at for at, row in enumerate(rows, 1) if row.strip().strip('"').startswith(key))


def spoken(rng: Random, key: str) -> str:
    """Return a name that people use for a key."""
    row = next((row for row in KEYS if row.startswith(f"{key} |")), "")
    return rng.choice([key, *row.split(" | ")[1].split(", ")]) if row else key


def settings_file(rng: Random, stem: str = "", ending: str = "", keys: int = 0) -> SettingsFile:
    """Return a file of settings with three to seven keys."""
    ending = ending or rng.choice(ENDINGS)
    where = rng.choice(("", "", "config/", "etc/", f"{rng.choice(POOLS['pkg'])}/"))
    path = f"{where}{stem or rng.choice(NAMES)}.{ending}"
    values = {}
    for row in rng.sample(KEYS, keys or rng.randint(3, 7)):
        key, _, known = row.split(" | ")
        values[key.upper() if ending == "env" else key] = rng.choice(known.split(","))
    return SettingsFile(path, text_of(rng, values, ending), values)


def text_of(rng: Random, values: dict[str, str], ending: str) -> str:
    """Return settings in the notation of a file ending."""
    section = rng.choice(POOLS["mod"])
    match ending:
        case "json":
            return json.dumps({key: _typed(value) for key, value in values.items()}, indent=2) + "\n"
        case "yaml":
            return "\n".join(f"{key}: {value}" for key, value in values.items()) + "\n"
        case "toml":
            rows = [f"{key} = {json.dumps(_typed(value))}" for key, value in values.items()]
            return "\n".join([*([f"[{section}]"] if rng.random() < 0.5 else []), *rows]) + "\n"
        case "ini" | "cfg":
            return "\n".join([f"[{section}]", *(f"{key} = {value}" for key, value in values.items())]) + "\n"
        case _:
            return "\n".join(f"{key}={value}" for key, value in values.items()) + "\n"


def _typed(value: str) -> object:
    if value in ("true", "false"):
        return value == "true"
    try:
        return int(value)
    except ValueError:
        pass
    try:
        return float(value)
    except ValueError:
        return value
