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
    /// The role that has expired, if that is why; nil otherwise.
    let expired: ExpiredMetadata?
    /// Whether other keys signed the files than those of the app's root.
    let isOfOtherKeys: Bool
    /// The files for which the server responded with 403.
    var forbidden: [String] = []
    /// When the pins end. Grace follows.
    let pinsNotAfter: String?
    /// When clients stop using the pins, grace included.
    let pinsEnd: String?
    /// Whether there are more roots than one update downloads.
    let needsSeveralUpdates: Bool
    /// The pins that such an app has, from the bundle if there is one.
    let pins: PinFile?
    /// The same pins for an outlook; nil without a bundle that such an app accepts.
    let published: PublishedPins?

    /// - Parameters:
    ///   - bundle: the published bundle; nil if there is none.
    ///   - root: the root metadata that the app was built with.
    init(_ following: TUFFollowing, bundle: Data?, root: Data, at time: Date) {
        (appRoot, newestRoot) = (following.appRoot, following.newestRoot)
        needsSeveralUpdates = following.needsSeveralUpdates
        isOfOtherKeys = following.problem?.code == .notSigned
        roles = following.roles.map { RepositoryRole($0, at: time) }
        let followed = TUFFollowedPins(following, bundle: bundle, root: root, at: time)
        (problem, bundleProblem, expired) = (followed.problem, followed.bundleProblem, followed.expired)
        (pins, published) = (followed.pins, followed.published)
        pinsNotAfter = pins?.notAfter?.formatted(.iso8601)
        pinsEnd = pins?.end?.formatted(.iso8601)
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

    /// Further warnings for the operator.
    var warnings: [String] {
        var warnings = forbidden.map { "\($0): status 403, which counts as absent" }
        if problem != nil, bundleProblem != nil, let problem { warnings.append("file by file: \(problem)") }
        if needsSeveralUpdates {
            warnings.append(
                "root \(newestRoot) is more than one update away from root \(appRoot): such an app needs several")
        }
        return warnings
    }

    private enum CodingKeys: CodingKey {
        case url, appRoot, newestRoot, roles, problem, bundleProblem, forbidden, pinsNotAfter, pinsEnd,
            needsSeveralUpdates
    }
}
