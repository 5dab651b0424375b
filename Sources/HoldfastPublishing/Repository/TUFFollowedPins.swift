package import Foundation
package import Holdfast
package import HoldfastTUF

/// The pins that an app with a certain root gets from a repository: file by file, and from `bundle.json`.
package struct TUFFollowedPins: Sendable {
    /// Why clients that download file by file get no pins; nil if they get them.
    package let problem: String?
    /// Why clients that download `bundle.json` get no pins; nil if they get them.
    package let bundleProblem: String?
    /// The role that has expired, if that is the reason; nil otherwise.
    package let expired: ExpiredMetadata?
    /// The pins of such an app, from the bundle if it is published; nil if it gets none.
    package let pins: PinFile?
    /// The pins for an outlook; nil without a bundle that such an app accepts.
    package let published: PublishedPins?

    /// - Parameters:
    ///   - following: the trusted state of such an app if it downloads file by file.
    ///   - bundle: the published bundle; nil if it does not exist.
    ///   - root: the root metadata that the app was built with.
    ///   - time: the current time.
    package init(_ following: TUFFollowing, bundle: Data?, root: Data, at time: Date) {
        let (single, problem) = Self.pins(of: following)
        let (bundled, bundleProblem, bundleError) = Self.pins(of: bundle, root: root, at: time)
        expired = ExpiredMetadata(following.problem) ?? ExpiredMetadata(bundleError)
        self.problem = problem
        self.bundleProblem = bundleProblem
        pins = bundle == nil ? single : bundled
        published = bundle.flatMap { bundle in
            try? PublishedPins(
                bundle: bundle, root: root, named: "the pins that apps with root \(following.appRoot) get", at: time)
        }
    }

    /// Makes a bundle from the files of a repository that does not serve one.
    /// - Throws: `TUFError` if an app with this root cannot update.
    package static func bundle(
        of source: some RepositorySource, root: Data, at time: Date
    ) async throws(TUFError) -> Data {
        try await PinBundle.data(of: source, root: root, clock: TUFFixedClock(now: time))
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

    private static func pins(
        of bundle: Data?, root: Data, at time: Date
    ) -> (PinFile?, problem: String?, error: TUFError?) {
        guard let bundle else { return (nil, "there is no bundle.json", nil) }
        do throws(StoreError) {
            return (try PinBundle.proved(bundle, root: root, clock: TUFFixedClock(now: time)), nil, nil)
        } catch {
            if let metadata = error.underlying as? TUFError { return (nil, text(metadata), metadata) }
            return (nil, "expected \(error.expected), found \(error.found)", nil)
        }
    }

    private static func text(_ error: TUFError) -> String {
        "\(error.subject.map { "\($0): " } ?? "")expected \(error.expected), found \(error.found)"
    }
}
