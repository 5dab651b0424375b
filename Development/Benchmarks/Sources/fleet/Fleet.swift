import Foundation
import Holdfast

/// Plays months of a device fleet with a repository of pins: the real state machine, schedule and signatures, under a
/// simulated clock. Meanwhile a key is rolled over, and the devices that cannot connect are counted.
@main
struct Fleet {
    /// In days; the report begins with day 0.
    private static let firstDay = -30.0
    private static let lastDay = 150.0
    /// The days on which the new pins are published, the server changes to its next key, and the old pin is removed.
    private static let published = 10.0
    private static let rolledOver = 20.0
    private static let retired = 45.0

    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        let count = arguments.first.flatMap { Int($0) } ?? 1_000
        let otherHosts = arguments.dropFirst().first.flatMap { Int($0) } ?? 9
        let folder = FileManager.default.temporaryDirectory.appending(path: "holdfast-fleet-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let start = Date(timeIntervalSince1970: (Date().timeIntervalSince1970 / Site.day).rounded(.down) * Site.day)
        let site = try await Site(folder, start: start, otherHosts: otherHosts)
        var fleet = Fleet(site: site, generator: SeededGenerator(seed: 1))
        try await fleet.run(devices: count)
        fleet.report(otherHosts: otherHosts)
    }

    private let site: Site
    private var generator: SeededGenerator
    private var devices: [Device] = []
    private var refusals: [TrustFailure.Code: Int] = [:]
    private var (connections, offline) = (0, 0)
    /// The times of requests, in days, during the measured month.
    private var requestTimes: [Double] = []
    private var monthBytes = 0

    private init(site: Site, generator: SeededGenerator) {
        self.site = site
        self.generator = generator
    }

    private mutating func run(devices count: Int) async throws {
        // Builds of one year, a quarter apart, each with the bundle of its day.
        var builds: [Device.Build] = []
        for day in stride(from: -399.0, to: Self.firstDay, by: 1) {
            if Int(day) % 30 == 0 { try await site.publish(.first, at: day) } else { try await site.renew(at: day) }
            if Int(day) % 90 == 0 {
                builds.append(Device.Build(bundle: site.served.bundle, date: site.date(day)))
            }
        }
        var queue: [(time: Double, device: Int)] = []
        for index in 0..<count {
            guard let build = builds.randomElement(using: &generator) else { return }
            let device = Device(build, start: site.date(Self.firstDay), using: &generator)
            devices.append(device)
            queue.append((Self.firstDay + pause(device.interval), index))
        }
        for day in stride(from: Self.firstDay, to: Self.lastDay, by: 1) {
            try await operate(on: day)
            // Sessions of one day, in their order.
            var later: [(time: Double, device: Int)] = []
            var today: [(time: Double, device: Int)] = []
            for entry in queue { if entry.time < day + 1 { today.append(entry) } else { later.append(entry) } }
            // Sort the latest first.
            today.sort { $0.time > $1.time }
            while let (time, index) = today.popLast() {
                try await open(index, at: time)
                let next = (time: time + pause(devices[index].interval), device: index)
                if next.time < day + 1 {
                    today.insert(next, at: today.lastIndex { $0.time > next.time }.map { $0 + 1 } ?? 0)
                } else {
                    later.append(next)
                }
            }
            queue = later
        }
    }

    private mutating func pause(_ mean: Double) -> Double {
        -log(1 - Double.random(in: 0..<1, using: &generator)) * mean
    }

    private func operate(on day: Double) async throws {
        switch day {
        case Self.published: try await site.publish(.rollover, at: day)
        case Self.retired: try await site.publish(.second, at: day)
        case _ where Int(day) % 30 == 0:
            let stage: Site.Stage = day < Self.published ? .first : day < Self.retired ? .rollover : .second
            try await site.publish(stage, at: day)
        default: try await site.renew(at: day)
        }
        if day == Self.rolledOver { site.rollServerOver() }
    }

    private mutating func open(_ index: Int, at time: Double) async throws {
        let before = site.served.traffic
        switch try await devices[index].open(at: time, site, using: &generator) {
        case .connected: connections += 1
        case .offline: offline += 1
        case .refused(let code): refusals[code, default: 0] += 1
        }
        guard (60..<90).contains(time) else { return }
        let after = site.served.traffic
        requestTimes += Array(repeating: time, count: after.requests - before.requests)
        monthBytes += after.bytes - before.bytes
    }

    // MARK: Report

    private func report(otherHosts: Int) {
        let count = Double(devices.count)
        let times = devices.compactMap { $0.hasNewPins.map { ($0 - Self.published) * 24 } }.sorted()
        func hours(_ part: Double) -> String {
            let place = Int((part * count).rounded(.up)) - 1
            return place < times.count ? String(format: "%.0f h", times[place]) : "not within 140 days"
        }
        let refused = refusals.map { "\($0.key.rawValue) \($0.value)" }.sorted().joined(separator: ", ")
        let rows = [
            (
                "devices, hosts in the pin file, size of the bundle",
                "\(devices.count), \(otherHosts + 1), \(site.served.bundle.count) bytes"
            ),
            (
                "connections; without a network; refused",
                "\(connections); \(offline); \(refused.isEmpty ? "0" : refused)"
            ),
            ("until half of all devices have the new pins", hours(0.5)),
            ("until 99 % have", hours(0.99)),
            ("until 99.9 % have", hours(0.999)),
            ("requests of a device in a month", String(format: "%.1f", Double(requestTimes.count) / count)),
            ("bytes of bodies that a device downloads in a month", String(format: "%.0f", Double(monthBytes) / count)),
            (
                "requests of a million devices in a month",
                String(format: "%.0f", Double(requestTimes.count) / count * 1e6)
            ),
            (
                "of these behind a cache that keeps the bundle for 5 minutes, to the origin",
                String(format: "%.0f", originRequests(devices: 1e6, lifetime: 300))
            ),
        ]
        print("| | |\n|---|---|")
        for (name, value) in rows { print("| \(name) | \(value) |") }
    }

    /// One request for each span with a request, for so many more devices than were played, at random times.
    private func originRequests(devices million: Double, lifetime: TimeInterval) -> Double {
        let span = lifetime / Site.day
        var spans: [Int: Int] = [:]
        for time in requestTimes { spans[Int(time / span), default: 0] += 1 }
        let scale = million / Double(devices.count)
        return spans.values.reduce(0) { $0 + 1 - exp(-Double($1) * scale) }
    }
}

/// SplitMix64: the same fleet each time.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
