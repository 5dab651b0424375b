import ArgumentParser
import HoldfastPublishing

/// The certificates of an authority, from which it may issue.
struct IssuerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Certificates of the authority that issues yours: current and announced intermediates and roots, and "
                + "cross-signed ones (PEM or DER). Pins of issuers must let in whatever it may issue from them. "
                + "Repeatable.", valueName: "file"),
        completion: .file(extensions: ["pem", "crt", "cer"]))
    var issuers: [String] = []

    /// The authority that the files describe together; nil if no files are given.
    func authority() throws(CommandFailure) -> AuthorityHierarchy? {
        guard !issuers.isEmpty else { return nil }
        let certificates = try issuers.map { file throws(CommandFailure) in try InputFile.chain(of: file).certificates }
        return try CommandFailure.rethrowing { () throws(PublishingError) in
            try AuthorityHierarchy(certificates.flatMap(\.self))
        }
    }
}
