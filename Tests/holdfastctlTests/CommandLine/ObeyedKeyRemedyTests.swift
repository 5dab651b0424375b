import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

/// Refusals of keys, key stores and client certificates, whose remedies are obeyed as ``ObeyedRemedyTests`` does.
@Suite("Remedies about key files that are obeyed", .needs(.openSSL), .timeLimit(.minutes(30)))
struct ObeyedKeyRemedyTests {
    /// The files of which a person has the password `right`: a signer's key encrypted in several forms, and PKCS #12.
    private static let files = """
        printf 'right\\n' > right.txt; printf 'wrong\\n' > wrong.txt
        openssl pkcs8 -topk8 -in key.pem -passout pass:right -v2 aes-128-cbc -v2prf hmacWithSHA256 -out locked.pem
        openssl pkcs8 -topk8 -in key.pem -passout pass:right -scrypt -out scrypt.pem
        openssl ec -in key.pem -aes128 -passout pass:right -out older.pem 2>/dev/null
        openssl pkey -in key.pem -outform DER -out key.der
        openssl pkcs12 -export -in leaf.pem -inkey leaf.key -passout pass:right -out leaf.p12
        openssl pkcs12 -export -in leaf.pem -inkey key.pem -nocerts -passout pass:right -out key.p12
        openssl pkcs8 -topk8 -in leaf.key -passout pass:right -out leaf.locked.key
        openssl x509 -in leaf.pem -outform DER -out leaf.der
        openssl pkey -in leaf.key -outform DER -out leaf.key.der
        cat leaf.pem leaf.key > both.pem
        chmod 600 *.pem *.key *.p12 *.der
        """

    private static func sign(_ key: String, _ more: String = "") -> String {
        "holdfastctl sign leaf.pem --key \(key)\(more) --ca root.pem --no-shipped-pins --force offline --list l.json"
    }

    /// A check that reads the client's certificate and then finds no server: exit code 3, but of another error.
    private static func present(_ certificate: String, _ key: String? = nil) -> String {
        let key = key.map { " --client-key \($0)" } ?? ""
        return "holdfastctl check www.example.com --ca root.pem --connect-to 127.0.0.1:9 --timeout 2s --client-cert "
            + "\(certificate)\(key) 2>&1 | tee said.txt; grep -q 'connect' said.txt && exit 0; exit 3"
    }

    private static let sealing: [ObeyedRemedyTests.Refusal] = [
        .init(
            setup: files, refused: sign("locked.pem", " --password-file wrong.txt"), status: 3,
            says: "openssl pkey -in FILE -noout succeeds with the right one",
            obeyed: "openssl pkey -in locked.pem -noout -passin pass:right",
            then: sign("locked.pem", " --password-file right.txt")),
        .init(
            setup: files, refused: sign("locked.pem"), status: 2, says: "give --password-file",
            obeyed: "true", then: sign("locked.pem", " --password-file right.txt")),
        .init(
            setup: files, refused: sign("scrypt.pem", " --password-file right.txt"), status: 3,
            says: "openssl pkcs8 -topk8 -in FILE -v2 aes-128-cbc -v2prf hmacWithSHA256 -out key.pem",
            obeyed: "openssl pkcs8 -topk8 -in scrypt.pem -passin pass:right -passout pass:right -v2 aes-128-cbc "
                + "-v2prf hmacWithSHA256 -out key.pem",
            then: sign("key.pem", " --password-file right.txt")),
        .init(
            setup: files, refused: sign("older.pem", " --password-file right.txt"), status: 3,
            says: "openssl pkcs8 -topk8 -in FILE -v2 aes-128-cbc -v2prf hmacWithSHA256 -out key.pem",
            obeyed: "openssl pkcs8 -topk8 -in older.pem -passin pass:right -passout pass:right -v2 aes-128-cbc "
                + "-v2prf hmacWithSHA256 -out key.pem",
            then: sign("key.pem", " --password-file right.txt")),
        .init(
            setup: files, refused: sign("key.der"), status: 3, says: "openssl pkey -inform DER -in FILE -out key.pem",
            obeyed: "openssl pkey -inform DER -in key.der -out key.pem", then: sign("key.pem")),
        .init(
            setup: files, refused: sign("key.p12"), status: 3, says: "openssl pkcs12 -in key.p12 -nocerts -nodes",
            obeyed: "openssl pkcs12 -passin pass:right -in key.p12 -nocerts -nodes -out key.pem", then: sign("key.pem")),
        .init(
            setup: files, refused: "holdfastctl export --key locked.pem --password-file wrong.txt", status: 3,
            says: "Check the password", obeyed: "true",
            then: "holdfastctl export --key locked.pem --password-file right.txt"),
        .init(
            setup: files, refused: "holdfastctl export-private --key locked.pem --password-file wrong.txt", status: 3,
            says: "Check the password", obeyed: "true",
            then: "holdfastctl export-private --key locked.pem --password-file right.txt > private.txt"),
    ]

    private static let stores: [ObeyedRemedyTests.Refusal] = [
        .init(
            setup: files, refused: "holdfastctl pin ./leaf.p12", status: 3,
            says: "openssl pkcs12 -in ./leaf.p12 -nokeys -out certificates.pem",
            obeyed: "openssl pkcs12 -passin pass:right -in ./leaf.p12 -nokeys -out certificates.pem",
            then: "holdfastctl pin ./certificates.pem"),
        .init(
            setup: files, refused: sign("key.pem").replacing("leaf.pem", with: "leaf.p12"), status: 3,
            says: "openssl pkcs12 -in leaf.p12 -nokeys -out certificates.pem",
            obeyed: "openssl pkcs12 -passin pass:right -in leaf.p12 -nokeys -out certificates.pem",
            then: sign("key.pem").replacing("leaf.pem", with: "certificates.pem")),
        .init(
            setup: files, refused: "holdfastctl pin ./leaf.locked.key", status: 3,
            says: "openssl pkey -in ./leaf.locked.key -pubout -out public.pem",
            obeyed: "openssl pkey -passin pass:right -in ./leaf.locked.key -pubout -out public.pem",
            then: "holdfastctl pin ./public.pem"),
    ]

    private static let clients: [ObeyedRemedyTests.Refusal] = [
        .init(
            setup: files, refused: present("leaf.p12"), status: 3,
            says: "openssl pkcs12 -in leaf.p12 -nokeys -out certificates.pem",
            obeyed: "openssl pkcs12 -passin pass:right -in leaf.p12 -nokeys -out certificates.pem",
            then: present("certificates.pem", "leaf.key")),
        .init(
            setup: files, refused: present("leaf.pem", "leaf.p12"), status: 3,
            says: "openssl pkcs12 -in leaf.p12 -nocerts -nodes -out key.pem",
            obeyed: "openssl pkcs12 -passin pass:right -in leaf.p12 -nocerts -nodes -out key.pem",
            then: present("leaf.pem", "key.pem")),
        .init(
            setup: files, refused: present("leaf.pem", "leaf.locked.key"), status: 3,
            says: "openssl pkey -in leaf.locked.key -out key.pem",
            obeyed: "openssl pkey -passin pass:right -in leaf.locked.key -out key.pem",
            then: present("leaf.pem", "key.pem")),
        .init(
            setup: files, refused: present("leaf.pem", "key.pem"), status: 3,
            says: "or name its own key with --client-key",
            obeyed: "true", then: present("leaf.pem", "leaf.key")),
        .init(
            setup: files, refused: present("leaf.pem"), status: 3, says: "Name the file that has it with --client-key",
            obeyed: "true", then: present("leaf.pem", "leaf.key")),
        .init(
            setup: files, refused: present("leaf.pem", "leaf.key.der"), status: 3,
            obeyed: nil, then: present("leaf.pem", "key.pem")),
        .init(
            setup: files, refused: present("leaf.der", "leaf.key"), status: 3,
            obeyed: nil, then: present("certificate.pem", "leaf.key")),
        .init(
            setup: files, refused: present("leaf.key"), status: 3, says: "Name the file with the certificate",
            obeyed: "true", then: present("both.pem")),
    ]

    @Test(
        "A key or a key store that cannot be used is made usable as the remedy says",
        arguments: sealing + stores + clients)
    func keys(refusal: ObeyedRemedyTests.Refusal) async throws {
        try await SigningSite.with { site in
            let leaf = try site.leaf("leaf.pem")
            try site.write("leaf.key", leaf.key.privateKeyPEM, mode: 0o600)
            try await ObeyedRemedyTests.obey(refusal, in: site)
        }
    }
}
