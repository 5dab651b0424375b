package import Foundation
package import Holdfast
package import HoldfastTUF

/// The pins that an app gets from a repository if it was built with a certain root: file by file, and from `bundle.json`.
package struct TUFFollowedPins: Sendable {
    /// Why clients that fetch file by file get none; nil if they do.
    package let problem: String?
    /// Why clients that fetch `bundle.json` get none; nil if they do.
    package let bundleProblem: String?
    /// The role that has expired, if that is the reason; nil otherwise.
    package let expired: ExpiredMetadata?
    /// The pins that such an app has, from the bundle if there is one; nil if it has none.
    package let pins: PinFile?
    /// The same for an outlook; nil without a bundle that such an app accepts.
    package let published: PublishedPins?

    /// - Parameters:
    ///   - following: what such an app trusts if it fetches file by file.
    ///   - bundle: the published bundle; nil if there is none.
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

    /// A bundle of a repository that serves none, put together from its files.
    /// - Throws: `TUFError` if an app with this root cannot follow.
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
