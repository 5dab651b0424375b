import ArgumentParser
import Foundation
import Holdfast

/// Which published pins a check is made against.
struct PublishedPinOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Check against the pins that clients have: a signed list, or a trust server's document.",
            valueName: "file"),
        completion: .file())
    var pins: String?

    @Option(
        name: .shortAndLong, help: ArgumentHelp("Of a list: " + PublicKeyArgument.help, valueName: "public"),
        completion: .file(), transform: { text in CheckedArgument { try PublicKeyArgument.key(text) } })
    var key: CheckedArgument<DocumentPublicKey>?

    @Option(
        help: ArgumentHelp(
            "Of a trust server: the certificate that clients are configured with.", valueName: "file"),
        completion: .file())
    var signer: String?

    @Option(help: ArgumentHelp("Of a trust server: whose document it is.", valueName: "name"))
    var customer: String?

    var isEmpty: Bool { pins == nil }

    func validate() throws {
        try key?.validate("--key")
        guard pins != nil else {
            guard key == nil, signer == nil, customer == nil else {
                throw ValidationError("--key, --signer and --customer go with --pins.")
            }
            return
        }
        guard (key == nil) != (signer == nil) else {
            throw ValidationError("--pins goes with --key for a list, or with --signer for a trust server's document.")
        }
        guard (signer == nil) == (customer == nil) else {
            throw ValidationError("--signer and --customer go together.")
        }
    }

    /// - Returns: nil where nobody asked.
    func read(at time: Date) throws -> PublishedPins? {
        guard let pins else { return nil }
        if let key { return try PublishedPins(list: pins, key: try key.get()) }
        return try PublishedPins(document: pins, signer: signer ?? "", customer: customer ?? "", at: time)
    }
}
