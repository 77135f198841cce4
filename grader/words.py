"""The messages of the grader to students, in each of its languages."""

LANGUAGES = {"es": "Spanish", "en": "English"}
GROUPS = {
    "base": {"es": "entradas ordinarias", "en": "ordinary inputs"},
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
        "cell": "La celda {number} lanzó `{kind}`; se omitió la instrucción que lo lanzó y se "
        "ejecutó el resto de la celda.",
        "cell_limit": "La celda {number} se interrumpió: {why}. Del resto de la celda solo se "
        "ejecutó lo que importa y lo que define.",
        "not_allowed": "Estos problemas no permiten {names}: al calificar solo están {packages} y "
        "la biblioteca estándar.",
        "alone": "Al calificar, tu código corre en un solo proceso y un solo hilo: no puede iniciar "
        "otros procesos, otros hilos ni otros programas.",
        "passed": "Correcto en todas las entradas.",
        "partial": "Correcto en parte.",
        "wrong": "Todavía no: falla en las entradas ordinarias.",
        "unanswered": "Sin responder: la función no existe o no devuelve nada.",
        "stopped": "Se interrumpió: no terminó a tiempo, usó demasiada memoria o cerró el proceso.",
        "manual": "Lo calificó una persona.",
        "pending": "Falta que lo califique una persona.",
        "overruled": "Quien califica cambió la nota de esta tarea.",
        "spared": "Tu función llama a otra anterior que tiene un error o tarda demasiado. Aquí se "
        "calificó con otra versión de esa función, para que cuente una sola vez.",
        "raised": "En una entrada, tu función lanzó `{error}`.",
        "modified": "Tu función modifica su argumento `{name}`: crea un arreglo nuevo o trabaja "
        "con una copia.",
        "unknown": "No es ninguno de los errores que reconocemos.",
        "slips": "Días de gracia usados en esta entrega: {used}. Días que te quedan: {left}.",
        "request": "Tu petición de revisión",
        "request_open": "Todavía no tiene respuesta.",
        "accepted": "Petición aceptada.",
        "declined": "Petición no aceptada.",
        "regrade": "Si crees que una nota está mal",
        "regrade_how": "Copia este texto en un archivo llamado `{file}`, complétalo y entrégalo "
        "junto a tu cuaderno, que no hace falta cambiar.",
        "regrade_title": "Petición de revisión: {name}",
        "regrade_help": "Borra las tareas que no quieras que se revisen.",
        "regrade_prompts": ["Qué creo que está mal:", "Por qué:"],
        "footer": "Las entradas con que se califica no se publican.",
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
        "cell": "Cell {number} raised `{kind}`; the statement that raised it was left out, and the "
        "rest of the cell was run.",
        "cell_limit": "Cell {number} was interrupted: {why}. Of the rest of the cell, only what it "
        "imports and defines was run.",
        "not_allowed": "This set does not allow {names}: when it is marked there are only "
        "{packages} and the standard library.",
        "alone": "When it is marked, your code runs in one process and one thread: it cannot start "
        "other processes, other threads or other programs.",
        "passed": "Right on all inputs.",
        "partial": "Right in part.",
        "wrong": "Not yet: it fails on the ordinary inputs.",
        "unanswered": "Not answered: the function does not exist or returns nothing.",
        "stopped": "Interrupted: it did not end in time, used too much memory or ended the process.",
        "manual": "Marked by a person.",
        "pending": "To be marked by a person.",
        "overruled": "Your marker changed the mark of this task.",
        "spared": "Your function calls an earlier one that has an error or takes too long. Here it "
        "was marked with another version of that one, so that it counts only once.",
        "raised": "On one input, your function raised `{error}`.",
        "modified": "Your function modifies its argument `{name}`: make a new array or work on a "
        "copy.",
        "unknown": "It is none of the mistakes we recognise.",
        "slips": "Slip days used on this set: {used}. Days left: {left}.",
        "request": "Your regrade request",
        "request_open": "It has no answer yet.",
        "accepted": "Request accepted.",
        "declined": "Request declined.",
        "regrade": "If you think that a mark is wrong",
        "regrade_how": "Copy this text into a file called `{file}`, complete it, and hand it in "
        "beside your notebook, which you need not change.",
        "regrade_title": "Regrade request: {name}",
        "regrade_help": "Delete the tasks that need no second look.",
        "regrade_prompts": ["What I think is wrong:", "Why:"],
        "footer": "The inputs used for marking are not published.",
    },
}
LIMITS = {
    "time": {"es": "no terminó a tiempo", "en": "it did not end in time"},
    "output": {"es": "escribió demasiado", "en": "it wrote too much"},
    "process": {"es": "cerró el proceso", "en": "it ended the process"},
}
