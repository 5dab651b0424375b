import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastTUF

/// How far apps that were built with a root can follow a repository. Its fields are those of the JSON object.
struct RepositoryFollowing: Encodable {
    /// The URL of the repository; nil for the folder.
    var url: String?
    /// The version of the app's root, and of the newest root that it reaches.
    let appRoot: Int64
    let newestRoot: Int64
    /// The roles as such an app trusts them.
    let roles: [RepositoryRole]
    /// Why clients that fetch file by file cannot follow; nil if they can.
    let problem: String?
    /// Why clients that fetch bundle.json cannot follow; nil if they can.
    let bundleProblem: String?
    /// The files for which the server answered with 403.
    var forbidden: [String] = []
    /// When clients stop using the pins, grace included.
    let pinsEnd: String?
    /// Whether there are more roots than one update downloads.
    let needsSeveralUpdates: Bool
    /// The pins that such an app has, from the bundle if there is one.
    let pins: PinFile?
    /// The same for an outlook; nil without a bundle that such an app accepts.
    let published: PublishedPins?

    /// - Parameters:
    ///   - bundle: the published bundle; nil if there is none.
    ///   - root: the root metadata that the app was built with.
    init(_ following: TUFFollowing, bundle: Data?, root: Data, at time: Date) {
        (appRoot, newestRoot) = (following.appRoot, following.newestRoot)
        needsSeveralUpdates = following.needsSeveralUpdates
        roles = following.roles.map { RepositoryRole($0, at: time) }
        let (single, problem) = Self.pins(of: following)
        let (bundled, bundleProblem) = Self.pins(of: bundle, root: root, at: time)
        self.problem = problem
        self.bundleProblem = bundleProblem
        pins = bundle == nil ? single : bundled
        pinsEnd = pins?.end.map { $0.formatted(.iso8601) }
        published = bundle.flatMap { bundle in
            try? PublishedPins(
                bundle: bundle, root: root, named: "the pins that apps with root \(following.appRoot) get", at: time)
        }
    }

    var isGood: Bool { problem == nil && bundleProblem == nil }

    /// The first line of the report.
    var verdict: String {
        let apps = "Apps with root \(appRoot)"
        let place = url.map { " at \($0)" } ?? ""
        switch (problem, bundleProblem) {
        case (nil, nil):
            return newestRoot == appRoot
                ? "\(apps) follow\(place)" : "\(apps) follow\(place), up to root \(newestRoot)"
        case (let problem?, let other?) where problem == other: return "\(apps) cannot follow\(place): \(problem)"
        case (let problem?, nil): return "\(apps) cannot follow\(place) file by file: \(problem)"
        case (_, let problem?): return "\(apps) cannot follow\(place) by bundle.json: \(problem)"
        }
    }

    func verdict(at url: String) -> String {
        var copy = self
        copy.url = url
        return copy.verdict
    }

    /// What else an operator should know.
    var warnings: [String] {
        var warnings = forbidden.map { "\($0): status 403, which counts as absent" }
        if problem != nil, bundleProblem != nil, let problem { warnings.append("file by file: \(problem)") }
        if needsSeveralUpdates {
            warnings.append(
                "root \(newestRoot) is more than one update away from root \(appRoot): such an app needs several")
        }
        return warnings
    }

    private static func pins(of following: TUFFollowing) -> (PinFile?, problem: String?) {
        guard let data = following.pins else {
            return (nil, following.problem.map(Self.text) ?? "it gets no pin file")
        }
        do throws(PinFileError) {
            let file = try PinFile(json: data)
            try file.checkSignedRequirements()
            return (file, nil)
        } catch {
            return (nil, "the pin file: expected \(error.expected), found \(error.found)")
        }
    }

    private static func pins(of bundle: Data?, root: Data, at time: Date) -> (PinFile?, problem: String?) {
        guard let bundle else { return (nil, "there is no bundle.json") }
        do throws(StoreError) {
            return (try PinBundle.proved(bundle, root: root, clock: TUFFixedClock(now: time)), nil)
        } catch {
            if let metadata = error.underlying as? TUFError { return (nil, text(metadata)) }
            return (nil, "expected \(error.expected), found \(error.found)")
        }
    }

    private static func text(_ error: TUFError) -> String {
        "\(error.subject.map { "\($0): " } ?? "")expected \(error.expected), found \(error.found)"
    }

    private enum CodingKeys: CodingKey {
        case url, appRoot, newestRoot, roles, problem, bundleProblem, forbidden, pinsEnd, needsSeveralUpdates
    }
}
