/// Divides what can be signed among the apps, in windows of a tenth of a second: what apps asked for in the window
/// before keeps its equal share in this one, and one share more is for whoever comes first: an app that nobody asked for a
/// moment ago finds something as well. What a window leaves over is there for a second, since clients do not come evenly.
struct AppShares: Sendable {
    /// Nanoseconds.
    static let window: UInt64 = 100_000_000

    /// How many windows can be saved, apart from the one that runs.
    private static let savedWindows = 9

    /// Signatures that each window adds.
    private let added: Int
    /// What there is in this window, with what was saved.
    private var capacity: Int
    private var windowNumber: UInt64 = 0
    private var used: [AppName: Int] = [:]
    /// The apps that asked in the window before.
    private var entitled: Set<AppName> = []
    private var asked: Set<AppName> = []
    private var total = 0
    /// What entitled apps have not taken of their shares yet.
    private var reserved = 0
    private var share = 0

    /// - Parameter ceiling: signatures in a second for all apps together.
    init(ceiling: Double) {
        added = max(1, Int(ceiling * Double(Self.window) / 1e9))
        capacity = added
    }

    /// Takes one signature for an app.
    /// - Parameters:
    ///   - app: the app.
    ///   - now: nanoseconds that never go back.
    /// - Returns: whether there was one.
    mutating func take(_ app: AppName, at now: UInt64) -> Bool {
        begin(window: now / Self.window)
        asked.insert(app)
        let mine = used[app] ?? 0
        let isOwn = entitled.contains(app) && mine < share
        guard isOwn || total + reserved < capacity else { return false }
        if isOwn { reserved -= 1 }
        total += 1
        used[app] = mine + 1
        return true
    }

    private mutating func begin(window number: UInt64) {
        guard number > windowNumber else { return }
        // After a window in which nobody asked, nobody has a share.
        entitled = number == windowNumber + 1 ? asked : []
        let silent = Int(min(number - windowNumber - 1, UInt64(Self.savedWindows)))
        capacity = added + min(Self.savedWindows * added, capacity - total + silent * added)
        windowNumber = number
        asked = []
        used = [:]
        total = 0
        share = capacity / (entitled.count + 1)
        reserved = share * entitled.count
    }
}
