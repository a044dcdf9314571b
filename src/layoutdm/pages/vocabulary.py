"""What the filler is made of: words, names, and the letters of several languages."""

from __future__ import annotations


def _words(text: str) -> list[str]:
    return text.split()


NOUNS = _words(
    """
analysis approach area assessment assumption baseline behaviour benefit boundary budget
calibration capacity case cell change channel class client cluster coefficient cohort collection
comparison component concentration condition context contract control correlation cost coverage
curve data decision delay demand density depth design detail device difference dimension direction
discussion distance distribution document duration edge effect effort element energy environment
error estimate evaluation event evidence example experiment exposure expression factor failure
feature field figure flow force form fraction frame framework frequency function gain gap gene
gradient group growth guideline height history hypothesis image impact increase index indicator
influence input instrument interval interview issue item journal knowledge lake layer length level
limit line list loss machine margin market mass material matrix mean measure measurement mechanism
medium member memory metal method mixture model module moment motion network node noise number
object observation operation option order outcome output overview parameter part participant
pathway patient pattern performance period phase plan plant point policy population position
practice prediction pressure probability procedure process product profile programme project
property protein protocol provider quality quantity question range rate ratio reaction reason
record reduction reference region relation report request research resource response result review
risk river role sample scale schedule school score season sector segment selection sensitivity
sensor sequence series service session setting shape signal site size society solution source space
species speed stage standard state station step strategy strength structure study subject supply
surface survey switch symptom system target task technique temperature test theory threshold time
tissue tool track trait transition treatment trend trial unit use value variable variance vector
vehicle velocity version volume water wave weight width window work year zone
"""
)

ADJECTIVES = _words(
    """
absolute active acute adaptive additional alternative annual apparent applied
average basic binary broad central clear clinical coarse common complete complex conventional
critical current daily dense detailed direct distinct early effective efficient empirical equal
exact existing external final fine first fixed former free full general global gradual high
important independent individual initial inner internal joint large late linear local long low main
major marginal maximal mean minor mixed moderate modern multiple narrow natural negative nominal
normal novel numerical observed open optimal ordinary outer overall partial physical plain positive
possible potential previous primary public random rapid recent regional regular relative relevant
reliable robust rural second selected separate severe short significant similar simple slow small
social spatial specific stable standard steady strong structural subsequent sufficient temporal
thermal total typical uniform upper urban usual variable visual weak whole wide young
"""
)

VERBS = _words(
    """
affects allows assumes changes compares confirms contains controls covers decreases
defines depends describes determines differs drives enables estimates exceeds explains extends
follows forms gives guides implies improves includes increases indicates influences involves keeps
leads limits lowers matches means measures meets moves needs offers predicts prevents produces
proves provides raises reaches reduces reflects remains removes replaces represents requires
reveals shapes shows splits suggests supports takes tests uses varies yields
"""
)

NAMES = _words(
    """
Adams Almeida Andersen Baker Bauer Becker Bell Berg Brown Carter Chen Clark Cohen Costa
Cruz Davies Diaz Dubois Evans Fischer Fontaine Garcia Gomez Grant Haas Hansen Hughes Ito Jansen
Johnson Kaya Keller Khan Kim Klein Kumar Larsen Lee Lewis Lopez Martin Meyer Mori Moreau Murphy
Nguyen Novak Olsen Park Patel Perez Petrov Popov Reed Rossi Roy Santos Sato Schmidt Silva Singh
Smith Sousa Tanaka Taylor Thomas Torres Turner Vega Wagner Walker Wang Weber White Wilson Wong Wood
Yamada Young Zhang Zhou
"""
)

SECTIONS = [
    name.strip()
    for name in [
        "\nIntroduction",
        "Background",
        "Related work",
        "Methods",
        "Materials and methods",
        "Study design",
        "\nData collection",
        "Statistical analysis",
        "Experimental setup",
        "Results",
        "Main results",
        "Discussion",
        "Limitations",
        "\nConclusions",
        "Acknowledgements",
        "Author contributions",
        "References",
        "Appendix",
        "Funding",
        "Case report",
        "\nPatients",
        "Outcome measures",
        "Sensitivity analysis",
        "Overview",
        "Scope",
        "Definitions",
        "Requirements",
        "Summary",
        "\nFinancial review",
        "Risk management",
        "Market overview",
        "Outlook",
        "Notes\n",
    ]
]

MONTHS = _words(
    """
January February March April May June July August September October November
December
"""
)

# For each language: its little words, and letters by how often they stand in running text, split
# into those that open a syllable and those that carry it. Words are put together from them.
LANGUAGES: dict[str, tuple[str, str, str]] = {
    "de": (
        "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es "
        "an werden aus er hat dass sie nach wird bei um am sind noch wie über einen so zum war",
        "nnnnnnnnnrrrrrrrssssssstttttthhhhddddllllgggccmmbbwwkffzpvsch",
        "eeeeeeeeeeeeeeeeiiiiiiiaaaaaauuuuoooäöüeieiau",
    ),
    "fr": (
        "de la le et les des en un du une que est pour qui dans a par plus pas au sur ne se ce il "
        "sont avec son aux ou cette comme elle mais nous leur entre sans",
        "ssssssssnnnnnnnttttttttrrrrrrlllllldddccmmmppvvqfbghj",
        "eeeeeeeeeeeeeeaaaaaaaiiiiiiiuuuuuooooéééèàouaien",
    ),
    "es": (
        "de la que el en y a los del se las por un para con no una su al lo como más pero sus le "
        "ya o este sí porque esta entre cuando muy sin sobre también",
        "ssssssssnnnnnnnrrrrrrrllllldddddttttccccmmmppbgvqhfzjñ",
        "eeeeeeeeeeeeeaaaaaaaaaaaaooooooooiiiiiiuuuáéíóúueie",
    ),
    "ru": (
        "и в не на что с по как это но из у за к для от до же так или при их его она если был",
        "нннннннтттттттссссссссрррррвввввлллллкккммммдддпппбгзчйхжшцщ",
        "оооооооооооеееееееееаааааааааииииииииыыяяяьуууюё",
    ),
    "el": (
        "και το του της η ο να με για από στην την τα που των σε είναι στο οι δεν θα τον ως μια",
        "τττττττννννννςσσσσσσρρρρρππππκκκκμμμλλλγδχθφβξζψ",
        "ααααααααοοοοοοοοιιιιιιιεεεεεεεηηηηυυωωάέίόήύώ",
    ),
}
