/// An answer that is no failure of the program, and not what the caller hoped for.
struct NegativeAnswer: Error {
    let words: String
}
