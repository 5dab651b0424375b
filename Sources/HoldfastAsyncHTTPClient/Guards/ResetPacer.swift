/// Decides when streams may be reset.
///
/// A server may send frames on a stream until it has read the reset (RFC 9113 5.1), but NIOHTTP2 1.44 remembers only the
/// last 31 reset streams, and takes a frame on an earlier one for an error of the connection. So no more than that are
/// reset at a time. A server that answers a PING has read everything before it (RFC 9113 6.7).
struct ResetPacer {
    /// How many resets may be without a confirmation: fewer than NIOHTTP2 remembers, since it resets some itself.
    static let maximumUnconfirmed = 24
    /// With how many a confirmation is asked for. Rarely, because some servers count PINGs.
    static let askedWith = 12

    /// What is to be sent now.
    struct Step: Equatable {
        /// How many of the resets that wait.
        var resets = 0
        /// Whether to ask the server for a confirmation, behind them.
        var asks = false
    }

    private var unconfirmed = 0
    /// Of these, the ones before the PING that is under way; nil without one.
    private var asked: Int?
    private var waiting = 0

    /// Whether the server has not answered a PING.
    var isAsking: Bool { asked != nil }

    /// Adds a reset to those that wait.
    mutating func add() -> Step {
        waiting += 1
        return next()
    }

    /// Takes out a reset that waits and is no longer needed, because the stream has ended.
    mutating func drop() { waiting -= 1 }

    /// The server has answered.
    mutating func confirm() -> Step {
        unconfirmed -= asked ?? 0
        asked = nil
        return next()
    }

    /// The server does not answer: everything is sent, at the risk of an error.
    mutating func giveUp() -> Step {
        (unconfirmed, asked) = (0, nil)
        defer { waiting = 0 }
        return Step(resets: waiting)
    }

    private mutating func next() -> Step {
        var step = Step(resets: min(waiting, Self.maximumUnconfirmed - unconfirmed))
        waiting -= step.resets
        unconfirmed += step.resets
        if asked == nil, unconfirmed >= Self.askedWith {
            asked = unconfirmed
            step.asks = true
        }
        return step
    }
}
