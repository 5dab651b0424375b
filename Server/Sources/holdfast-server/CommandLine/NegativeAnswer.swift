/// An answer that is not a failure of the program, but not the one that the caller wanted.
struct NegativeAnswer: Error {
    let words: String
    /// The exit code.
    var status: Int32 = 1

    /// The exit code, as in `holdfastctl gate`, if the served certificate expires first: install now, and alert.
    static let installNow: Int32 = 5
}
