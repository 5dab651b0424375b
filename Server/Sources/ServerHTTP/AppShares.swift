import ServerFoundation

/// Divides the signing capacity among the apps, in windows of 100 ms. Each app that requested signatures in the
/// previous window has an equal share in this one. One more share is open to any app, so that an app without recent
/// requests gets signatures too. Unused capacity is kept for a second, because requests do not arrive evenly.
struct AppShares: Sendable {
    /// The length of a window in nanoseconds.
    static let window: UInt64 = 100_000_000

    /// The number of windows whose unused capacity can be kept.
    private static let savedWindows = 9

    /// The number of signatures that each window adds.
    private let added: Int
    /// The number of signatures in this window, including those kept from earlier ones.
    private var capacity: Int
    private var windowNumber: UInt64 = 0
    private var used: [AppName: Int] = [:]
    /// The apps that requested signatures in the previous window.
    private var entitled: Set<AppName> = []
    private var asked: Set<AppName> = []
    private var total = 0
    /// The unused part of the shares of entitled apps.
    private var reserved = 0
    private var share = 0

    /// - Parameter ceiling: the number of signatures per second for all apps together.
    init(ceiling: Double) {
        added = max(1, Int(ceiling * Double(Self.window) / 1e9))
        capacity = added
    }

    /// Takes one signature for an app.
    /// - Parameters:
    ///   - app: the app.
    ///   - now: a monotonic time in nanoseconds.
    /// - Returns: whether a signature was available.
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
        // After a window without requests, no app has a share.
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
