/// Runs dialogues one after the other, for example with a proxy and then with the server behind it. It enforces for all
/// of them that the peer speaks only in its turn, and that no byte is left over when TLS begins.
struct DialogueSequence: Sendable {
    /// What to do next.
    struct Step: Equatable {
        var send: [UInt8] = []
        /// Whether TLS begins after that.
        var isDone = false
    }

    private var dialogues: ArraySlice<any ConnectionDialogue>
    private var input = PlaintextInput()

    init(_ dialogues: [any ConnectionDialogue]) {
        self.dialogues = dialogues[...]
    }

    /// Call it once, when there is a connection.
    func start() -> Step { Step(send: dialogues.first?.opening ?? [], isDone: dialogues.isEmpty) }

    /// Handles input from the peer.
    mutating func receive(_ bytes: [UInt8]) throws(DialogueFailure) -> Step {
        try input.append(bytes)
        var step = Step()
        while var dialogue = dialogues.first {
            let action = try dialogue.hear(&input)
            dialogues[dialogues.startIndex] = dialogue
            switch action {
            case .wait: return step
            case .say(let words):
                try refuseMore()
                step.send += words
            case .finish(let words):
                step.send += words
                dialogues = dialogues.dropFirst()
                guard let next = dialogues.first else { break }
                if let opening = next.opening {
                    try refuseMore()
                    step.send += opening
                }
            }
        }
        try refuseMore()
        step.isDone = true
        return step
    }

    private func refuseMore() throws(DialogueFailure) {
        guard !input.pending.isEmpty else { return }
        throw DialogueFailure(
            .extraBytes,
            "\(input.pending.count) bytes in plaintext came with or after the last answer, where nothing may come; "
                + "somebody may have injected them (STARTTLS injection)")
    }
}
