"""What the grader says to students, in both languages."""

GROUPS = {
    "base": {"es": "entradas ordinarias", "en": "ordinary inputs"},
    "large numbers": {"es": "números grandes", "en": "large numbers"},
    "empty rows": {"es": "filas sin nada permitido", "en": "rows with nothing allowed"},
    "batches": {"es": "otros ejes de lote", "en": "other batch axes"},
    "masks": {"es": "con máscara", "en": "with a mask"},
    "padding at the end": {"es": "relleno al final", "en": "padding at the end"},
    "padding anywhere": {"es": "relleno en cualquier sitio", "en": "padding anywhere"},
    "arguments": {"es": "argumentos intactos", "en": "arguments left alone"},
}
WORDS = {
    "es": {
        "provisional": "provisional: falta lo que califica una persona",
        "penalty": "{score} puntos menos {penalty} por entregar tarde.",
        "late": "Entregado con {hours} horas de retraso.",
        "unreadable": "No se pudo leer tu entrega: {reason}.",
        "hint": "El error que reconocemos",
        "comment": "Comentario de quien califica",
        "answer": "Tu respuesta",
        "no_response": "Sin respuesta.",
        "broken": "Celdas que se detuvieron",
        "cell": "La celda {number} lanzó `{kind}`; lo que viene después de ese punto de la celda "
        "no se ejecutó.",
        "cell_limit": "La celda {number} se interrumpió: {why}.",
        "passed": "Correcto en todas las entradas.",
        "partial": "Correcto en parte.",
        "wrong": "Todavía no: falla en las entradas ordinarias.",
        "unanswered": "Sin responder: la función no existe o no devuelve nada.",
        "stopped": "Se interrumpió: no terminó a tiempo, usó demasiada memoria o cerró el proceso.",
        "manual": "Lo calificó una persona.",
        "pending": "Falta que lo califique una persona.",
        "overruled": "Quien califica cambió la nota de esta tarea.",
        "raised": "En una entrada, tu función lanzó `{error}`.",
        "modified": "Tu función modifica su argumento `{name}`: crea un arreglo nuevo o trabaja "
        "con una copia.",
        "unknown": "No es ninguno de los errores que reconocemos. Ejecuta `check` en tu cuaderno: "
        "te enseña una entrada pequeña y lo que se esperaba.",
        "footer": "Las entradas con que se califica no se publican. Con `check` puedes seguir "
        "probando tus funciones.",
    },
    "en": {
        "provisional": "provisional: what a person marks is still missing",
        "penalty": "{score} points less {penalty} for handing in late.",
        "late": "Handed in {hours} hours late.",
        "unreadable": "Your submission could not be read: {reason}.",
        "hint": "The mistake we recognise",
        "comment": "Comment from your marker",
        "answer": "Your answer",
        "no_response": "No answer.",
        "broken": "Cells that stopped",
        "cell": "Cell {number} raised `{kind}`; nothing after that point of the cell was run.",
        "cell_limit": "Cell {number} was interrupted: {why}.",
        "passed": "Right on all inputs.",
        "partial": "Right in part.",
        "wrong": "Not yet: it fails on the ordinary inputs.",
        "unanswered": "Not answered: the function does not exist or returns nothing.",
        "stopped": "Interrupted: it did not end in time, used too much memory or ended the process.",
        "manual": "Marked by a person.",
        "pending": "To be marked by a person.",
        "overruled": "Your marker changed the mark of this task.",
        "raised": "On one input, your function raised `{error}`.",
        "modified": "Your function modifies its argument `{name}`: make a new array or work on a "
        "copy.",
        "unknown": "It is none of the mistakes we recognise. Run `check` in your notebook: it "
        "shows you a small input and what was expected.",
        "footer": "The inputs used for marking are not published. With `check` you can go on "
        "testing your functions.",
    },
}
LIMITS = {
    "time": {"es": "no terminó a tiempo", "en": "it did not end in time"},
    "output": {"es": "escribió demasiado", "en": "it wrote too much"},
    "process": {"es": "cerró el proceso", "en": "it ended the process"},
}
