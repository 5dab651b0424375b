/// A server's answer to one request, and its expected result.
struct Answer: Sendable {
    enum Expectation: Sendable, Equatable {
        /// A response with this status, whole.
        case response(UInt)
        /// `malformedResponse`, which names this where it is not empty.
        case malformed(naming: String)
        /// An error of any kind: the answer is not whole.
        case failure
        /// Any end, in time; a response has a status of 200 to 599.
        case anything
    }

    let name: String
    var script: AnsweringPeer.Script
    var expectation: Expectation
    /// Whether something comes after the end of the response, by which the connection ends sooner or later.
    var isFollowed = false
    /// Whether it has to be the first of its connection.
    var needsConnection = false

    init(_ name: String, _ octets: [UInt8], expecting expectation: Expectation) {
        self.name = name
        script = AnsweringPeer.Script(answer: { _ in octets })
        self.expectation = expectation
    }

    init(
        _ name: String, expecting expectation: Expectation, answer: @escaping @Sendable (_ stream: UInt32) -> [UInt8]
    ) {
        self.name = name
        script = AnsweringPeer.Script(answer: answer)
        self.expectation = expectation
    }
}
