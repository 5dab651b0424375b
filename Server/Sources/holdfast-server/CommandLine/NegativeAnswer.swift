/// An answer that is no failure of the program, and not what the caller hoped for.
struct NegativeAnswer: Error {
    let words: String
    /// The exit code.
    var status: Int32 = 1

    /// What is served ends first: install the next certificate now, and alert. As `holdfastctl gate` has it.
    static let installNow: Int32 = 5
}
