"""What an exception of NumPy, PyTorch or Python means, in a sentence for those who caused it.

The exception names the operation that stopped; a learner wants to know what was wrong with its
arrays. Only messages that occur in exercises are here.
"""

import re

from attn_course.language import text

# By pattern of the message. In the sentences, {0}, {1}, ... are the groups of the pattern.
MEANINGS = {
    r"truth value of an array|Boolean value of Tensor": {
        "es": "Una condición necesita un solo True o False, y aquí recibe un arreglo con varios. O "
        "al arreglo le queda un eje por recorrer, o debes elegir elemento por elemento: con "
        "`np.where`, o con `np.minimum` y `np.maximum` en lugar de `min` y `max`.",
        "en": "A condition needs a single True or False, and here it is given an array of several. "
        "Either the array has an axis left to go through, or you want to choose element by "
        "element: with `np.where`, or with `np.minimum` and `np.maximum` in place of `min` and `max`.",
    },
    r"size (\d+) is different from (\d+)\)": {
        "es": "En un producto `A @ B`, el último eje de A debe medir lo mismo que el penúltimo de "
        "B, y aquí miden {1} y {0}. Revisa qué hay que trasponer, y si de una matriz cortaste "
        "filas, `w[a:b]`, en lugar de columnas, `w[:, a:b]`, o al revés.",
        "en": "In a product `A @ B`, the last axis of A must be as long as the last but one of B, "
        "and here they measure {1} and {0}. Check what has to be transposed, and whether you "
        "cut rows of a matrix, `w[a:b]`, in place of columns, `w[:, a:b]`, or the other way "
        "round.",
    },
    r"shapes (?:cannot be multiplied )?\(?(\S+?)\)? and \(?(\S+?)\)?(?: not aligned|\)|$)": {
        "es": "En un producto de matrices, la primera debe tener tantas columnas como filas la "
        "segunda, y aquí sus formas son ({0}) y ({1}). Revisa qué hay que trasponer.",
        "en": "In a product of matrices, the first must have as many columns as the second has "
        "rows, and here their shapes are ({0}) and ({1}). Check what has to be transposed.",
    },
    r"does not have enough dimensions": {
        "es": "Uno de los dos lados de `@` es un solo número, sin ejes. O bien un índice o un bucle tomó un "
        "eje más de los que querías, o bien un `sum`, un `max` o un `mean` lo redujo.",
        "en": "One of the two sides of `@` is a single number, without axes. Either an index or a loop took "
        "one axis more than you wanted, or a `sum`, a `max` or a `mean` reduced it.",
    },
    r"could not be broadcast together with (?:remapped )?shapes (.+)": {
        "es": "NumPy alinea las formas por el final, y ahí los tamaños deben ser iguales o uno de los dos "
        "valer 1; estas no encajan: {0}. Mira qué eje de cada arreglo se encuentra con cuál del otro.",
        "en": "NumPy lines shapes up from the end, where sizes must be equal or one of the two be 1; these "
        "do not fit: {0}. Look at which axis of each array meets which of the other.",
    },
    r"cannot reshape array of size (\d+) into shape (\(.+?\))": {
        "es": "`reshape` no añade ni quita números: el arreglo tiene {0}, y en la forma {1} no "
        "caben justos. Comprueba cuántos ejes tiene esta entrada.",
        "en": "`reshape` neither adds nor removes numbers: the array has {0}, and they do not fill "
        "the shape {1} exactly. Check how many axes this input has.",
    },
    r"axis\d? ?(-?\d+)(?: is|:) out of bounds for array of dimension (\d+)": {
        "es": "Pides el eje {0} de un arreglo que aquí tiene {1}. Si cuentas desde el final, como "
        "en `axis=-1`, el mismo código vale para cualquier número de ejes.",
        "en": "You ask for axis {0} of an array that has {1} here. If you count from the end, as in "
        "`axis=-1`, the same code works for any number of axes.",
    },
    r"axes don't match array": {
        "es": "Nombras los ejes uno por uno, y esta entrada tiene otro número de ellos. `x.mT` y "
        "`np.moveaxis(x, -2, -3)` cuentan desde el final y valen para todas.",
        "en": "You name the axes one by one, and this input has another number of them. `x.mT` and "
        "`np.moveaxis(x, -2, -3)` count from the end and work for all.",
    },
    r"array is (\d+)-dimensional, but (\d+) were indexed": {
        "es": "Usas {1} índices en un arreglo que aquí tiene {0} ejes. Con `x[..., i]` cuentas "
        "desde el final, haya o no un lote.",
        "en": "You use {1} indices on an array that has {0} axes here. With `x[..., i]` you count "
        "from the end, whether there is a batch or not.",
    },
    r"(?:not enough|too many) values to unpack \(expected (\d+)": {
        "es": "A la izquierda del `=` hay {0} nombres, y a la derecha otra cantidad de partes. Si es "
        "una forma, esta entrada tiene otro número de ejes: `*batch, rows, columns = x.shape` vale "
        "para todos.",
        "en": "There are {0} names on the left of the `=`, and another number of parts on the right. "
        "If it is a shape, this input has another number of axes: "
        "`*batch, rows, columns = x.shape` works for all.",
    },
    r"only integer scalar arrays|'numpy.ndarray' object cannot be interpreted as an integer": {
        "es": "Donde se espera un número entero llegó un arreglo. Pasa con `np.max(0, z)`, cuyo "
        "segundo argumento es el eje: para comparar elemento por elemento, usa "
        "`np.maximum(0, z)`. Un `range` y un corte tampoco admiten un arreglo: recorre sus números.",
        "en": "Where a whole number is expected, an array came. It happens with `np.max(0, z)`, "
        "whose second argument is the axis: to compare element by element, use "
        "`np.maximum(0, z)`. Nor does a `range` or a slice take an array: go through its numbers.",
    },
    r"float\d* ?'?.*cannot be interpreted as an integer|slice indices must be integers": {
        "es": "Un tamaño, un `range` o un corte quieren un número entero, y `/` da siempre uno real: "
        "divide con `//`.",
        "en": "A size, a `range` or a slice wants a whole number, and `/` always gives a real one: divide "
        "with `//`.",
    },
    r"boolean (?:negative|subtract)": {
        "es": "Los valores de verdad no se restan ni llevan signo menos: lo contrario de `m` es `~m`, y lo "
        "que está en `a` y no en `b` es `a & ~b`.",
        "en": "Truth values are not subtracted and take no minus sign: the opposite of `m` is `~m`, and "
        "what is in `a` and not in `b` is `a & ~b`.",
    },
    r"'bitwise_xor' not supported|unsupported operand type\(s\) for \^": {
        "es": "En Python `^` no eleva a una potencia, sino que compara bits. La potencia es `**`: "
        "`x ** 2`.",
        "en": "In Python `^` raises nothing to a power: it compares bits. The power is `**`: `x ** 2`.",
    },
    r"'bitwise_(?:and|or)' not supported": {
        "es": "`&` y `|` se calculan antes que `<` y `>=`, así que cada comparación va entre paréntesis: "
        "`(a < 1) & (b >= 4)`.",
        "en": "`&` and `|` come before `<` and `>=`, so each comparison goes in parentheses: "
        "`(a < 1) & (b >= 4)`.",
    },
    r"Integers to negative integer powers": {
        "es": "NumPy no eleva enteros a una potencia negativa entera. Escribe el exponente con decimales, "
        "como `-0.5`; `-1 // 2` no es un medio, sino −1.",
        "en": "NumPy raises no integers to a negative whole power. Write the exponent with its decimals, "
        "as in `-0.5`; `-1 // 2` is no half, but −1.",
    },
    r"zero-dimensional arrays cannot be concatenated": {
        "es": "Para unir un número a un arreglo, haz antes de él un arreglo con sus mismos ejes, por "
        "ejemplo `np.full((filas, 1), número)`.",
        "en": "To join a number to an array, first make an array of it with the same axes, for instance "
        "`np.full((rows, 1), number)`.",
    },
    r"can't multiply sequence by non-int|can only concatenate list": {
        "es": "Una lista de Python no hace cuentas con sus números: conviértela con `np.array`.",
        "en": "A Python list does no arithmetic on its numbers: convert it with `np.array`.",
    },
    r"'numpy.ndarray' object has no attribute '(append|extend|index|count)'": {
        "es": "`{0}` es de las listas. Empieza con `[]` y haz el arreglo al final, con `np.array`.",
        "en": "`{0}` belongs to lists. Begin with `[]` and make the array at the end, with `np.array`.",
    },
    r"'numpy.ndarray' object has no attribute '(int|long|float|bool|unsqueeze|masked_fill|permute|"
    r"expand|detach|cpu|to|exp|sqrt|log|softmax|norm|topk|clone|gather|pow|clamp|t|sigmoid|silu|relu|"
    r"rsqrt|abs|matmul|scatter)'": {
        "es": "`{0}` es un método de los tensores de PyTorch, y aquí llegan arreglos de NumPy: usa la "
        "función de NumPy que hace lo mismo, o convierte antes el arreglo con `torch.as_tensor`.",
        "en": "`{0}` is a method of PyTorch's tensors, and what comes here are arrays of NumPy: use the "
        "function of NumPy that does the same, or convert the array first with `torch.as_tensor`.",
    },
    r"(?:keyword argument |^)'(dim\d?|keepdim|descending)'": {
        "es": "`{0}` es un argumento de PyTorch, y aquí llegan arreglos de NumPy: sus nombres son `axis` y "
        "`keepdims`, y para ordenar de mayor a menor se ordena `-x`.",
        "en": "`{0}` is an argument of PyTorch, and what comes here are arrays of NumPy: their names are "
        "`axis` and `keepdims`, and to sort from high to low one sorts `-x`.",
    },
    r"module 'numpy' has no attribute '(\w+)'": {
        "es": "NumPy no tiene `{0}`. Si es de PyTorch o de SciPy, escríbelo con lo que hay en NumPy, como "
        "`np.exp`, `np.sqrt` o `np.maximum`.",
        "en": "NumPy has no `{0}`. If it belongs to PyTorch or SciPy, write it with what there is in NumPy, "
        "such as `np.exp`, `np.sqrt` or `np.maximum`.",
    },
    r"'int' object is not callable": {
        "es": "Los paréntesis van detrás de un número, como si fuera una función. En NumPy `x.size` es un "
        "número, el total de elementos; lo que mide el último eje es `x.shape[-1]`.",
        "en": "The parentheses follow a number, as though it were a function. In NumPy `x.size` is a number, "
        "that of all elements; what the last axis measures is `x.shape[-1]`.",
    },
    r"division by zero": {
        "es": "El divisor es 0 en esta entrada: mira si lo que sumas en él está vacío, por ejemplo porque tu "
        "bucle no empieza en el primer elemento.",
        "en": "The divisor is 0 on this input: see whether what you sum into it is empty, for instance because "
        "your loop does not begin at the first element.",
    },
    r"`indices` and `arr` must have the same number of dimensions": {
        "es": "`np.take_along_axis` quiere índices con tantos ejes como el arreglo: añade el que falta, "
        "`ids[..., None]`, y quítalo del resultado con `[..., 0]`.",
        "en": "`np.take_along_axis` wants indices with as many axes as the array: add the one that is "
        "missing, `ids[..., None]`, and take it off the result with `[..., 0]`.",
    },
    r"all input arrays? (?:dimensions|must have the same shape)|array dimensions .*must match exactly": {
        "es": "Los arreglos que juntas tienen formas distintas. Quizá un corte que llega al final es más "
        "corto, o cortas un eje por otro.",
        "en": "The arrays that you join differ in shape. Perhaps a slice that reaches the end is shorter, or "
        "you cut one axis for another.",
    },
    r"inhomogeneous shape": {
        "es": "Un arreglo no puede tener filas de distinto largo: créalo antes con su forma completa, y "
        "escribe en cada fila lo que le toca.",
        "en": "An array cannot have rows of different lengths: make it first in its full shape, and write "
        "into each row what belongs there.",
    },
    r"array split does not result in an equal division": {
        "es": "`np.split` parte un eje en trozos iguales, y este no se deja: comprueba qué eje partes.",
        "en": "`np.split` cuts an axis into equal pieces, and this one does not allow it: check which axis "
        "you cut.",
    },
    r"only (?:length-1|0-dimensional) arrays can be converted": {
        "es": "Una función de `math`, como `float` e `int`, toma un solo número, y aquí recibe un "
        "arreglo. Las de NumPy, como `np.exp` y `np.sqrt`, actúan sobre cada elemento.",
        "en": "A function of `math`, like `float` and `int`, takes a single number, and here it is "
        "given an array. Those of NumPy, such as `np.exp` and `np.sqrt`, act on each element.",
    },
    r"builtin_function_or_method|'method'|'function'": {
        "es": "Operas con una función en lugar de con su resultado: le faltan los paréntesis, como "
        "a `x.max` en lugar de `x.max()`.",
        "en": "You compute with a function in place of its result: its parentheses are missing, as "
        "in `x.max` in place of `x.max()`.",
    },
    r"unhashable type: 'numpy.ndarray'": {
        "es": "Buscas un arreglo entero en un diccionario, que solo busca palabras o números "
        "sueltos: esta entrada tiene un eje más de los que recorres.",
        "en": "You look a whole array up in a dictionary, which looks up only single words or "
        "numbers: this input has one axis more than you go through.",
    },
    r"index (-?\d+) is out of bounds for axis (\d+) with size (\d+)": {
        "es": "Pides el elemento {0} de un eje que mide {2}. Comprueba a qué eje pertenece ese "
        "índice y que empiezas a contar en 0.",
        "en": "You ask for element {0} of an axis that measures {2}. Check to which axis that index "
        "belongs, and that you count from 0.",
    },
}


def meaning(message):
    """Return a sentence that says what an exception means, or an empty text.

    Parameters
    ----------
    message : str
        What the exception says.

    Returns
    -------
    str
        In the language in use.

    Examples
    --------
    >>> meaning("nothing we know")
    ''
    """
    for pattern, sentence in MEANINGS.items():
        found = re.search(pattern, message)
        if found:
            return text(**sentence).format(*(group.strip() for group in found.groups()))
    return ""
