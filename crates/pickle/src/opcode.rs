//! The codes of the instructions, with their names in Python's `pickletools`.

macro_rules! opcodes {
    ($($name:ident = $code:literal,)*) => {
        $(
            #[doc = concat!("Code of the instruction `", stringify!($name), "`.")]
            pub const $name: u8 = $code;
        )*

        /// The name of an instruction; `unknown` if no instruction has this code.
        #[must_use]
        pub fn name(code: u8) -> &'static str {
            match code {
                $($name => stringify!($name),)*
                _ => "unknown",
            }
        }
    };
}

opcodes! {
    PROTO = 0x80,
    FRAME = 0x95,
    STOP = b'.',

    NONE = b'N',
    NEWTRUE = 0x88,
    NEWFALSE = 0x89,
    BININT = b'J',
    BININT1 = b'K',
    BININT2 = b'M',
    LONG1 = 0x8a,
    LONG4 = 0x8b,
    BINFLOAT = b'G',

    BINUNICODE = b'X',
    SHORT_BINUNICODE = 0x8c,
    BINUNICODE8 = 0x8d,
    BINSTRING = b'T',
    SHORT_BINSTRING = b'U',
    BINBYTES = b'B',
    SHORT_BINBYTES = b'C',
    BINBYTES8 = 0x8e,
    BYTEARRAY8 = 0x96,

    MARK = b'(',
    EMPTY_TUPLE = b')',
    TUPLE = b't',
    TUPLE1 = 0x85,
    TUPLE2 = 0x86,
    TUPLE3 = 0x87,
    EMPTY_LIST = b']',
    APPEND = b'a',
    APPENDS = b'e',
    EMPTY_DICT = b'}',
    SETITEM = b's',
    SETITEMS = b'u',
    EMPTY_SET = 0x8f,
    ADDITEMS = 0x90,
    FROZENSET = 0x91,

    BINGET = b'h',
    LONG_BINGET = b'j',
    BINPUT = b'q',
    LONG_BINPUT = b'r',
    MEMOIZE = 0x94,
    POP = b'0',
    POP_MARK = b'1',
    DUP = b'2',

    GLOBAL = b'c',
    STACK_GLOBAL = 0x93,
    REDUCE = b'R',
    NEWOBJ = 0x81,
    NEWOBJ_EX = 0x92,
    BUILD = b'b',
    BINPERSID = b'Q',
    EXT1 = 0x82,
    EXT2 = 0x83,
    EXT4 = 0x84,
    NEXT_BUFFER = 0x97,
    READONLY_BUFFER = 0x98,

    // The instructions that exist only in protocols 0 and 1.
    INT = b'I',
    LONG = b'L',
    FLOAT = b'F',
    STRING = b'S',
    UNICODE = b'V',
    LIST = b'l',
    DICT = b'd',
    GET = b'g',
    PUT = b'p',
    INST = b'i',
    OBJ = b'o',
    PERSID = b'P',
}
