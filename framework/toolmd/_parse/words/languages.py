"""German, French and Spanish words for sections, fields, yes and no, which diagnostics translate.

No word here is ever read without a diagnostic: the format is English.
"""

import unicodedata
from collections.abc import Mapping
from functools import cached_property

from toolmd._parse.words.keys import fold, plain

_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})


class _Words:
    """English names, each with the words of other languages for it, separated by commas."""

    def __init__(self, rows: Mapping[str, str]) -> None:
        self.rows = rows

    @cached_property
    def by_word(self) -> Mapping[str, str]:
        """Return the English name by every word, folded; few files need it."""
        return {
            _bare(spelt): english
            for english, words in self.rows.items()
            for word in words.split(",")
            for spelt in (word, word.translate(_UMLAUTS))
        }


_SECTIONS = _Words(
    {
        "Safety": "Sicherheit, Sicherheitsregeln, Sécurité, Sûreté, Seguridad",
        "Limits": "Grenzen, Begrenzungen, Beschränkungen, Einschränkungen, Limites, "
        "Limitations, Límites, Limitaciones, Restricciones",
        "Rules": "Regeln, Règles, Reglas",
        "Parameters": "Eingaben, Argumente, Paramètres, Entrées, Parámetros, Entradas, Argumentos",
        "Returns": "Rückgabe, Rückgabewert, Ergebnis, Ausgabe, Antwort, Retour, Valeur de "
        "retour, Résultat, Sortie, Réponse, Retorno, Valor de retorno, Devuelve, Resultado, "
        "Salida, Respuesta",
        "Metadata": "Metadaten, Métadonnées, Metadatos",
        "Examples": "Beispiele, Beispiel, Exemples, Exemple, Ejemplos, Ejemplo",
        "Workflow": "Ablauf, Arbeitsablauf, Schritte, Étapes, Déroulement, Flux de travail, "
        "Pasos, Flujo, Flujo de trabajo",
        "When to use": "Wann verwenden, Wann benutzen, Verwendung, Quand l'utiliser, "
        "Utilisation, Cuándo usar, Cuándo usarlo, Uso",
    }
)
_FIELDS = _Words(
    {
        "Name": "Nom, Nombre",
        "Category": "Kategorie, Catégorie, Categoría",
        "Tags": "Schlagwörter, Étiquettes, Etiquetas",
        "Requires Auth": "Anmeldung erforderlich, Erfordert Anmeldung, Authentifizierung, "
        "Authentifizierung erforderlich, Authentification, Authentification requise, "
        "Autenticación, Requiere autenticación, Autenticación requerida",
        "Requires Context": "Kontext, Erfordert Kontext, Kontext erforderlich, Contexte, "
        "Contexte requis, Requiert un contexte, Contexto, Requiere contexto, Contexto "
        "requerido",
        "Implemented By": "Implementiert von, Implementiert durch, Implémenté par, "
        "Implementado por",
        "Read Only": "Nur lesend, Nur Lesen, Schreibgeschützt, Lecture seule, Solo lectura",
        "Required Tools": "Werkzeuge, Benötigte Werkzeuge, Erforderliche Werkzeuge, Outils, "
        "Outils requis, Herramientas, Herramientas requeridas, Herramientas necesarias",
        "Required Skills": "Benötigte Skills, Erforderliche Skills, Compétences requises, "
        "Habilidades requeridas",
        "Schedule": "Zeitplan, Planification, Programación, Horario",
        "Durable": "Dauerhaft, Duradero",
        "Min Confidence": "Mindestvertrauen, Mindestkonfidenz, Minimale Konfidenz, Konfidenz, "
        "Confiance minimale, Confiance min, Confianza mínima",
        "Requires Confirmation": "Bestätigung, Bestätigung erforderlich, Erfordert "
        "Bestätigung, Bestätigung nötig, Confirmation requise, Requiert une confirmation, "
        "Exige une confirmation, Nécessite une confirmation, Confirmación, Confirmación "
        "requerida, Requiere confirmación, Confirmación necesaria",
        "Confirm When": "Bestätigen wenn, Bestätigung wenn, Confirmer si, Confirmer quand, "
        "Confirmer lorsque, Confirmar si, Confirmar cuando",
        "Sensitivity": "Sensibilität, Sensitivität, Vertraulichkeit, Sensibilité, Sensibilidad",
        "Explicit Intent": "Ausdrückliche Absicht, Explizite Absicht, Intention explicite, "
        "Intención explícita",
        "Intent Keywords": "Schlüsselwörter, Absichtswörter, Mots clés, Mots d'intention, "
        "Palabras clave",
        "Escalate When": "Eskalieren wenn, Escalader si, Escalader quand, Escalar si, Escalar "
        "cuando",
        "Timeout": "Zeitlimit, Zeitüberschreitung, Délai, Délai maximal, Tiempo límite, "
        "Tiempo de espera, Tiempo máximo",
        "Retries": "Wiederholungen, Nouvelles tentatives, Tentatives, Reintentos",
        "Rate": "Aufrufrate, Débit, Taux, Tasa, Frecuencia",
        "Max Rows": "Max Zeilen, Maximale Zeilen, Höchstzahl Zeilen, Lignes max, Max lignes, "
        "Máx filas, Filas máximas, Máximo de filas",
        "Max Bytes": "Maximale Größe, Max Größe, Taille max, Taille maximale, Tamaño máximo",
        "Max Calls": "Max Aufrufe, Maximale Aufrufe, Appels max, Max appels, Llamadas "
        "máximas, Máx llamadas, Máximo de llamadas",
        "Allowed Domains": "Erlaubte Domains, Erlaubte Domänen, Erlaubte Hosts, Domaines "
        "autorisés, Hôtes autorisés, Dominios permitidos",
        "Type": "Typ, Datentyp, Type de données, Tipo, Tipo de dato",
        "Required": "Pflicht, Pflichtfeld, Erforderlich, Benötigt, Notwendig, Verpflichtend, "
        "Requis, Obligatoire, Requerido, Obligatorio, Necesario",
        "Optional": "Optionnel, Facultatif, Opcional",
        "Description": "Beschreibung, Descripción",
        "Default": "Standard, Standardwert, Vorgabe, Vorgabewert, Valeur par défaut, Par "
        "défaut, Défaut, Valor por defecto, Por defecto, Valor predeterminado, Predeterminado",
        "Enum": "Werte, Erlaubte Werte, Mögliche Werte, Zulässige Werte, Auswahl, Valeurs, "
        "Valeurs possibles, Valeurs autorisées, Choix, Valores, Valores posibles, Valores "
        "permitidos, Opciones",
        "Items": "Elemente, Éléments, Elementos",
        "Properties": "Eigenschaften, Felder, Propriétés, Champs, Propiedades, Campos",
        "Minimum": "Mindestwert, Mindestens, Minimal, Valeur minimale, Au moins, Mínimo, "
        "Valor mínimo, Al menos",
        "Maximum": "Höchstwert, Höchstens, Maximal, Valeur maximale, Au plus, Máximo, Valor "
        "máximo, Como máximo",
        "Min Length": "Mindestlänge, Minimale Länge, Min Länge, Longueur min, Longueur "
        "minimale, Longitud mínima, Longitud min",
        "Max Length": "Höchstlänge, Maximale Länge, Maximallänge, Max Länge, Longueur max, "
        "Longueur maximale, Longitud máxima, Longitud max",
        "Pattern": "Muster, Motif, Patron, Patrón",
        "Format": "Formato",
        "Min Items": "Mindestanzahl, Min Elemente, Éléments min, Elementos mínimos, Mínimo de "
        "elementos",
        "Max Items": "Höchstanzahl, Max Elemente, Éléments max, Elementos máximos, Máximo de "
        "elementos",
        "Unique": "Eindeutig, Único, Únicos",
        "Unit": "Einheit, Unité, Unidad",
        "Example": "Beispiel, Exemple, Ejemplo",
        "Sensitive": "Sensibel, Vertraulich, Geheim, Sensible, Confidentiel, Confidencial, Secreto",
        "Verbatim": "Wörtlich, Mot à mot, Textuel, Textual, Literal",
    }
)
_TRUTH = _Words(
    {
        "yes": "ja, wahr, pflicht, erforderlich, oui, vrai, obligatoire, requis, sí, "
        "verdadero, obligatorio, requerido",
        "no": "nein, falsch, non, faux, facultatif, optionnel, falso, opcional",
    }
)


def english_section(title: str) -> str | None:
    """Return the English title that a German, French or Spanish one means, or None."""
    return _SECTIONS.by_word.get(_bare(title))


def english_field(key: str) -> str | None:
    """Return the English name of a field that a German, French or Spanish key means, or None."""
    return _FIELDS.by_word.get(_bare(key))


def english_truth(value: str) -> str | None:
    """Return `yes` or `no` for a German, French or Spanish word that means it, or None."""
    return _TRUTH.by_word.get(_bare(value))


def _bare(text: str) -> str:
    """Fold a text without its accents."""
    folded = fold(plain(text))
    if folded.isascii():
        return folded
    return "".join(c for c in unicodedata.normalize("NFKD", folded) if not unicodedata.combining(c))
