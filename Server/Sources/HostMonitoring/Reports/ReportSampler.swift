import ServerFoundation

/// Selects the reports of a day that are stored with their chains, so that neither the first nor the most frequent
/// senders can fill the samples.
///
/// Each host has few samples, all with different subjects, and a source draws for at most half of them. While there is
/// room, each draw wins. After that, each wins with the same probability as every other draw of the day (algorithm R,
/// Vitter 1985). So a report that more sources send draws more often.
package struct ReportSampler: Sendable {
    /// Maximum number of samples per host and day.
    static let maximumOfHost = 8
    /// Maximum number of samples per app and day.
    package static let maximumOfApp = 64
    /// Maximum number of draws of a source per host and day.
    static let maximumDraws = 4
    /// Maximum number of draws of a source per app and day.
    static let maximumDrawsOfApp = 16
    /// Maximum number of pairs of source and host that are distinguished per day.
    static let maximumShares = 8_192

    /// The decision about one report.
    package enum Verdict: Sendable, Hashable {
        case kept
        /// It replaces another one.
        case keptFor(ReportSample.Subject)
        case left
    }

    /// The draws of a source for one host, or for all.
    fileprivate struct Share: Sendable, Hashable {
        let source: UInt64
        let host: String?
    }

    fileprivate struct Host: Sendable {
        var kept: [ReportSample.Subject] = []
        var draws = 0
    }

    fileprivate struct App: Sendable {
        var hosts: [String: Host] = [:]
        var count = 0
        var shares: [Share: Int] = [:]
    }

    private var apps: [AppName: App] = [:]

    /// Adds an already stored sample. Its source is no longer known.
    package mutating func remember(_ subject: ReportSample.Subject) {
        apps[subject.app, default: App()].keep(subject)
        apps[subject.app]?.hosts[subject.host]?.draws += 1
    }

    /// Decides whether to store a report.
    /// - Parameters:
    ///   - source: the tag of its source.
    ///   - generator: makes the draws.
    package mutating func decide(
        _ subject: ReportSample.Subject, from source: UInt64, using generator: inout some RandomNumberGenerator
    ) -> Verdict {
        apps[subject.app, default: App()].decide(subject, from: source, using: &generator)
    }
}

extension ReportSampler.App {
    fileprivate mutating func keep(_ subject: ReportSample.Subject) {
        hosts[subject.host, default: ReportSampler.Host()].kept.append(subject)
        count += 1
    }

    fileprivate mutating func decide(
        _ subject: ReportSample.Subject, from source: UInt64, using generator: inout some RandomNumberGenerator
    ) -> ReportSampler.Verdict {
        let kept = hosts[subject.host]?.kept ?? []
        guard !kept.contains(subject), takeShare(of: source, at: subject.host) else { return .left }
        hosts[subject.host, default: ReportSampler.Host()].draws += 1
        if kept.count < ReportSampler.maximumOfHost {
            guard count >= ReportSampler.maximumOfApp else {
                keep(subject)
                return .kept
            }
            // The host with the most samples makes room.
            let fullest = hosts.max { $0.value.kept.count < $1.value.kept.count }
            if let fullest, fullest.value.kept.count > kept.count + 1 {
                let old = remove(Int.random(in: fullest.value.kept.indices, using: &generator), of: fullest.key)
                keep(subject)
                return old.map { ReportSampler.Verdict.keptFor($0) } ?? .kept
            }
        }
        let index = Int.random(in: 0..<(hosts[subject.host]?.draws ?? 1), using: &generator)
        guard kept.indices.contains(index), let old = remove(index, of: subject.host) else { return .left }
        keep(subject)
        return .keptFor(old)
    }

    private mutating func remove(_ index: Int, of host: String) -> ReportSample.Subject? {
        guard let old = hosts[host]?.kept.remove(at: index) else { return nil }
        count -= 1
        return old
    }

    private mutating func takeShare(of source: UInt64, at host: String) -> Bool {
        let (all, one) = (
            ReportSampler.Share(source: source, host: nil), ReportSampler.Share(source: source, host: host)
        )
        guard shares[all, default: 0] < ReportSampler.maximumDrawsOfApp,
            shares[one, default: 0] < ReportSampler.maximumDraws
        else { return false }
        // Beyond the maximum, the draws of a source are not counted: it is one of thousands.
        for share in [all, one] where shares[share] != nil || shares.count < ReportSampler.maximumShares {
            shares[share, default: 0] += 1
        }
        return true
    }
}
