/// Something that somebody should do or look at.
struct OverviewNeed: Sendable, Hashable {
    /// What it is about, the most urgent first.
    enum Kind: String, Sendable, Hashable, CaseIterable {
        case emergency = "Emergency"
        case alarm = "Alarm"
        case canary = "Canary held"
        case unreadable = "Unreadable"
        case end = "Ends soon"
        case unseen = "Not seen"
        case backup = "No backup"
        case failures = "Reported"
        case change = "Change"

        var rank: PageRank {
            switch self {
            case .emergency, .alarm, .canary, .unreadable: .bad
            case .end, .unseen, .backup, .failures: .warn
            case .change: .usual
            }
        }
    }

    let kind: Kind
    /// What it is about, which links to where it stands.
    let title: String
    let address: String
    let words: String
}
