import PinPublication

/// An item on the overview that needs action.
struct OverviewNeed: Sendable, Hashable {
    /// The kinds of items, most urgent first.
    enum Kind: String, Sendable, Hashable, CaseIterable {
        case emergency = "Emergency"
        case lockedOut = "Locked out"
        case alarm = "Alarm"
        case canary = "Canary held"
        case expired = "Expired"
        case held = "Held"
        case unreadable = "Unreadable"
        case disk = "Disk full"
        case end = "Ends soon"
        case unseen = "Not seen"
        case backup = "No backup"
        case failures = "Reported"
        case change = "Change"

        /// The kind that corresponds to an alert.
        init(_ kind: Publisher.StandingAlert.Kind) {
            self =
                switch kind {
                case .lockedOut: .lockedOut
                case .expired: .expired
                case .held: .held
                case .canary: .canary
                case .publish: .end
                }
        }

        var rank: PageRank {
            switch self {
            case .emergency, .lockedOut, .alarm, .canary, .expired, .held, .unreadable, .disk: .bad
            case .end, .unseen, .backup, .failures: .warn
            case .change: .usual
            }
        }
    }

    let kind: Kind
    /// The subject of the item, which links to ``address``.
    let title: String
    let address: String
    let words: String
}
