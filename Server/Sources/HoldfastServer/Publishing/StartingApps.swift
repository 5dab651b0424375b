import Synchronization

/// The apps that a server which starts has still to read, one after the other. Whoever asks for one gets it next: with a
/// thousand of them nobody waits until all are read.
final class StartingApps: Sendable {
    private typealias Waiter = CheckedContinuation<Void, Never>

    private struct State {
        /// In the order in which they are read unless somebody asks; the last comes first.
        var later: [AppName]
        /// What somebody asked for, the first to ask first.
        var asked: [AppName] = []
        /// Those that are read or being read.
        var begun: Set<AppName> = []
        var read: [AppName: PublishedSnapshot.Contribution] = [:]
        var waiters: [AppName: [Waiter]] = [:]
        /// Those that wait for everything.
        var patient: [Waiter] = []
        /// How many wait.
        var count = 0
        var isDone = false
        /// Whether what is left is not read anymore.
        var isStopped = false
    }

    /// How many may wait: connections that end leave their requests here.
    static let maximumWaiters = 8_192

    /// The apps that have anything under a name. A canary that follows a repository is an app as well, so that two may.
    private let named: [AppName: [AppName]]
    /// The apps that have anything at a path.
    private let owners: [String: [AppName]]
    private let state: Mutex<State>

    init(_ ledger: Ledger) {
        let apps = ledger.appNames
        named = apps.reduce(into: [:]) { named, app in
            for name in ReleaseChannel.allCases.compactMap({ $0.name(of: app) }) {
                named[name, default: []].append(app)
            }
        }
        owners = ledger.documents.keys.reduce(into: [:]) { $0[$1.name, default: []].append($1.app) }
        state = Mutex(State(later: apps.reversed()))
    }

    // MARK: Reading

    /// The app to read next; nil if all of them are read or being read.
    func next() -> AppName? {
        state.withLock { state in
            while !state.isStopped, let app = state.asked.isEmpty ? state.later.popLast() : state.asked.removeFirst() {
                if state.begun.insert(app).inserted { return app }
            }
            return nil
        }
    }

    /// Takes what an app has, and answers whoever waits for it.
    func finish(_ app: AppName, _ contribution: PublishedSnapshot.Contribution) {
        let waiters = state.withLock { state in
            state.read[app] = contribution
            let waiters = state.waiters.removeValue(forKey: app) ?? []
            state.count -= waiters.count
            return waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// What was read.
    var contributions: [AppName: PublishedSnapshot.Contribution] { state.withLock { $0.read } }

    /// Reads nothing more, because the server stops.
    func stop() { state.withLock { $0.isStopped = true } }

    /// Whether it was stopped.
    var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Ends the start, whether or not everything was read. What is served now is elsewhere.
    func end() {
        let waiters = state.withLock { state in
            state.isDone = true
            defer { (state.waiters, state.patient, state.count) = ([:], [], 0) }
            return state.waiters.values.flatMap(\.self) + state.patient
        }
        for waiter in waiters { waiter.resume() }
    }

    // MARK: Asking

    /// How many wait.
    var waiterCount: Int { state.withLock { $0.count } }

    /// Whether nobody else may wait.
    var isFull: Bool { waiterCount >= Self.maximumWaiters }

    /// What is served under the name of an app, or of a canary, once that is read.
    /// - Returns: nil if the start is over.
    func snapshot(of name: AppName) async -> PublishedSnapshot? { await snapshot(of: named[name] ?? []) }

    /// What is served at a path, once that is read.
    /// - Returns: nil if the start is over, which is waited for where nobody knows whose document it is.
    func snapshot(at path: some Collection<UInt8>) async -> PublishedSnapshot? {
        let isPath = ASCIIText.isPrintable(path, 1...PublishedSnapshot.maximumPath)
        guard !isPath || owners[String(decoding: path, as: UTF8.self)] != nil else {
            // That nobody publishes it is said once everything was read.
            await everything()
            return nil
        }
        return await snapshot(of: isPath ? owners[String(decoding: path, as: UTF8.self)] ?? [] : [])
    }

    private func snapshot(of apps: [AppName]) async -> PublishedSnapshot? {
        for app in apps { await read(app) }
        let found = state.withLock { state in state.isDone ? nil : apps.compactMap { state.read[$0] } }
        return found.map { PublishedSnapshot(of: $0) }
    }

    /// Waits until the start is over.
    func everything() async {
        await withCheckedContinuation { waiter in
            let isDone = state.withLock { state in
                guard !state.isDone else { return true }
                state.patient.append(waiter)
                state.count += 1
                return false
            }
            if isDone { waiter.resume() }
        }
    }

    private func read(_ app: AppName) async {
        await withCheckedContinuation { waiter in
            let isThere = state.withLock { state in
                guard !state.isDone, state.read[app] == nil else { return true }
                if !state.begun.contains(app), state.waiters[app] == nil { state.asked.append(app) }
                state.waiters[app, default: []].append(waiter)
                state.count += 1
                return false
            }
            if isThere { waiter.resume() }
        }
    }
}
