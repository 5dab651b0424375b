public import Holdfast

/// A chain that makes a validator work as hard as possible, within the number of bytes that TLS lets a peer present.
///
/// It is for testing the bounds of validators. Whether a path leads to ``anchor`` depends on the recipe, and a
/// validator finds out as late as possible.
public struct HostileChain: Sendable {
    /// The part of the certificates that is made expensive.
    public enum Field: String, Sendable, Hashable, CaseIterable {
        /// Names that all differ, and that must be folded before they can be compared.
        case names
        /// Entries of subjectAltName, with name constraints of the same kind.
        case constrainedNames
        /// Keys with which signatures are slow to verify.
        case keys
        /// Many policies, in a path that requires one.
        case policies
        /// Many authorities with the same name, each of which may have issued every other.
        case mesh
        /// Many small elements, or long ones, in extensions.
        case extensions
    }

    /// The recipe of the certificates. Each number is a choice within a field.
    public struct Recipe: Sendable, Hashable {
        /// The part that is made expensive.
        public var field: Field
        /// The kind of text, name, key or extension.
        public var kind: Int
        /// The size of each element, in bytes.
        public var size: Int
        /// The number of elements in each certificate.
        public var count: Int

        /// Makes a recipe. Numbers out of range are brought into range.
        public init(_ field: Field, kind: Int, size: Int, count: Int) {
            self.field = field
            self.kind = kind
            self.size = size
            self.count = count
        }
    }

    /// The recipe of the chain.
    public let recipe: Recipe
    /// The DER of the certificates, the leaf first.
    public let presented: [[UInt8]]
    /// The DER of the certificate to trust.
    public let anchor: [UInt8]

    /// The host name of every leaf.
    public static let host = "www.example.com"
    /// The maximum number of bytes that common TLS libraries let a peer present.
    public static let maximumBytes = 100_000

    /// The name of the leaf's issuer, which is also the name of the other presented authorities.
    private static let issuer = TestName.commonName("Hostile CA")

    /// Makes the chain, with as many certificates as fit.
    public init(_ recipe: Recipe, clock: any WallClock = SystemWallClock()) throws(TestKitError) {
        self.recipe = recipe
        let maker = Maker(recipe: recipe, clock: clock)
        anchor = maker.leadsToAnchor ? try maker.root().root : try TestAuthority.root(clock: clock).root
        presented = maker.leadsToAnchor ? try maker.path() : try maker.decoys()
    }
}

extension HostileChain {
    private struct Maker {
        let recipe: Recipe
        let clock: any WallClock
        /// One key and one root, so that all certificates of a maker belong together.
        private let key: TestKey?

        init(recipe: Recipe, clock: any WallClock) {
            self.recipe = recipe
            self.clock = clock
            key = try? TestKey()
        }

        var leadsToAnchor: Bool { recipe.field == .constrainedNames || recipe.field == .policies }

        func root() throws(TestKitError) -> TestAuthority {
            try TestAuthority.root(name: "Hostile Root", key: key.map { .existing($0) } ?? .p256, clock: clock)
        }

        // MARK: Certificates that lead nowhere

        func decoys() throws(TestKitError) -> [[UInt8]] {
            let signer = try TestAuthority.root(name: HostileChain.issuer, clock: clock)
            let leaf = try signer.leaf(names: [.dns(HostileChain.host)]) { specification in
                if recipe.field == .names { specification.issuer = name(0, upper: true) }
                if recipe.field == .extensions { specification.extensions = leafExtensions }
                specification.authorityKeyIdentifier = .absent
                if recipe.field == .keys, recipe.kind % 5 > 1 {
                    specification.faults = [.innerSignatureAlgorithm(.rsaPKCS1(.sha256))]
                }
            }
            let first =
                recipe.field == .keys && recipe.kind % 5 > 1 ? Self.signedWithRSA(leaf.der, modulusOctets) : leaf.der
            var presented = [first]
            var bytes = first.count
            var number = 0
            while presented.count < 128 {
                let next = try decoy(number, signer)
                guard bytes + next.count <= HostileChain.maximumBytes else { break }
                presented.append(next)
                bytes += next.count
                number += 1
            }
            return presented
        }

        private func decoy(_ number: Int, _ signer: TestAuthority) throws(TestKitError) -> [UInt8] {
            var specification = CertificateSpecification.intermediate(HostileChain.issuer)
            var choice = TestKey.Choice.p256
            switch recipe.field {
            case .names:
                specification.subject = name(number, upper: false)
                specification.issuer = name(number + 1, upper: true)
            case .keys:
                specification.subjectPublicKeyInfo = slowKey(number)
                if recipe.kind % 5 == 0 { choice = .p384 }
                if recipe.kind % 5 == 1 { choice = .p521 }
            case .mesh:
                let identifier = [UInt8](repeating: 7, count: recipe.size % 2_000)
                specification.subjectKeyIdentifier = .octets(identifier)
                specification.authorityKeyIdentifier = .octets(identifier)
                if recipe.kind % 2 == 0 {
                    specification.subject = TestName.commonName(String(repeating: "a", count: recipe.size % 900))
                    specification.issuer = specification.subject
                }
                return try signer.intermediate(name: specification.subject) { $0 = specification }.certificate.der
            case .extensions: specification.extensions = leafExtensions
            case .constrainedNames, .policies: break
            }
            return try TestAuthority.selfSigned(specification, key: choice, clock: clock).der
        }

        /// Makes names of one kind of text. No two of them are equal after folding.
        private func name(_ number: Int, upper: Bool) -> TestName {
            let texts = [
                "\u{FDFA}", "\u{FDFB}", "\u{FB03}", "a\u{315}\u{300}\u{5AE}", "\u{3316}", "A ", "\u{1E9B}\u{323}",
                // The maximum number of attributes of a name.
                "x",
            ]
            let unit = texts[abs(recipe.kind) % texts.count]
            let size = 8 + abs(recipe.size) % 1_000
            let isOneCharacterEach = unit == "x"
            let count = isOneCharacterEach ? max(size / 12, 1) : 1 + abs(recipe.count) % 40
            let each = max(size / count, 1)
            let text = isOneCharacterEach ? unit : String(repeating: unit, count: max(each / unit.utf8.count, 1))
            let marker = upper ? "CA \(number)" : "ca \(number)"
            return TestName(
                [.init(.commonName, marker)] + (1..<max(count, 2)).map { _ in .init(.organizationalUnit, text) })
        }

        private var modulusOctets: Int { [256, 512, 1_024][abs(recipe.kind) % 3] }

        /// Replaces the signature by bytes that are no RSA signature but have the length of the keys. Only a complete
        /// verification detects that.
        private static func signedWithRSA(_ der: [UInt8], _ length: Int) -> [UInt8] {
            // Both headers have four bytes in a certificate of this size.
            guard der.count > 256 + 8 else { return der }
            let end = 8 + (Int(der[6]) << 8 | Int(der[7]))
            guard end <= der.count else { return der }
            let algorithm = TestDER.sequence([
                TestDER.objectIdentifier([1, 2, 840, 113_549, 1, 1, 11]), TestDER.null,
            ])
            let signature = [0] + [UInt8](repeating: 0xA5, count: length - 1)
            return TestDER.sequence([Array(der[4..<end]), algorithm, TestDER.bitString(signature)])
        }

        private func slowKey(_ number: Int) -> [UInt8]? {
            guard recipe.kind % 5 > 1 else { return nil }
            var modulus = (0..<modulusOctets).map { UInt8(truncatingIfNeeded: $0 * 31 + number * 7) | 1 }
            modulus[0] = 0xFF
            modulus[1] = UInt8(truncatingIfNeeded: number)
            let exponent: [UInt8] = recipe.size % 2 == 0 ? [1, 0xFF, 0xFF, 0xFF, 0xFF] : [1, 0, 1]
            let pair = TestDER.sequence([
                TestDER.integer(octets: [0] + modulus), TestDER.integer(octets: exponent),
            ])
            let algorithm = TestDER.sequence([
                TestDER.objectIdentifier([1, 2, 840, 113_549, 1, 1, 1]), TestDER.null,
            ])
            return TestDER.sequence([algorithm, TestDER.bitString(pair)])
        }

        private var leafExtensions: [TestExtension] {
            let count = 1 + abs(recipe.count) % 50
            let size = 2 + abs(recipe.size) % 1_500
            switch abs(recipe.kind) % 4 {
            case 0:  // long identifiers that differ at their end
                return (0..<count).map { number in
                    let arcs = [UInt](repeating: 1, count: size)
                    return TestExtension(TestObjectIdentifier([1, 3] + arcs + [UInt(number)]), value: [])
                }
            case 1:  // an extendedKeyUsage of empty identifiers
                return [.init([2, 5, 29, 37], value: list(of: [6, 0], size * count))]
            case 2:
                return [
                    .init(
                        [2, 5, 29, 30],
                        value: TestDER.sequence([
                            TestDER.context(0, constructed: repeated([0x30, 2, 0x82, 0], min(size * count / 4, 4_000)))
                        ]))
                ]
            default:
                return [.init([2, 5, 29, 32], isCritical: true, value: list(of: [0x30, 2, 6, 0], size * count))]
            }
        }

        private func list(of element: [UInt8], _ bytes: Int) -> [UInt8] {
            TestDER.element(0x30, repeated(element, max(min(bytes, 90_000) / element.count, 1)))
        }

        private func repeated(_ element: [UInt8], _ count: Int) -> [UInt8] {
            (0..<max(count, 1)).flatMap { _ in element }
        }

        // MARK: A path to the anchor, on which constraints or policies are checked at the end

        func path() throws(TestKitError) -> [[UInt8]] {
            let half = HostileChain.maximumBytes * 45 / 100
            let issuing = try root().intermediate(name: HostileChain.issuer) { specification in
                if recipe.field == .policies { return addPolicies(to: &specification, half) }
                let bases = fill(half) { general($0, base: true) }
                if recipe.kind % 2 == 0 {
                    specification.nameConstraints = .init(excluded: bases)
                } else {
                    specification.nameConstraints = .init(permitted: bases)
                }
            }
            let leaf = try issuing.leaf(names: []) { specification in
                if recipe.field == .policies {
                    specification.subjectAltName = [.dns(HostileChain.host)]
                    return addPolicies(to: &specification, half)
                }
                let host = TestGeneralName.dns(HostileChain.host)
                specification.subjectAltName = [host] + fill(half) { general($0, base: false) }
            }
            return [leaf.der, issuing.certificate.der]
        }

        private func fill(_ bytes: Int, _ make: (Int) -> TestGeneralName) -> [TestGeneralName] {
            var (left, names): (Int, [TestGeneralName]) = (bytes, [])
            while names.count < 4_000 {
                let next = make(names.count)
                left -= next.der.count + 4
                guard left > 0 else { break }
                names.append(next)
            }
            return names
        }

        private func general(_ number: Int, base: Bool) -> TestGeneralName {
            let size = 1 + abs(recipe.size) % 600
            let text = String(repeating: "a", count: size)
            switch abs(recipe.kind) / 2 % 6 {
            case 0: return .dns("\(text.prefix(60)).n\(number)\(base ? "b" : "a").example")
            case 1: return .address([UInt8](repeating: 255, count: base ? 32 : 16))
            case 2: return .email(base ? "\(text)@b\(number)" : "\(text)@a\(number)")
            case 3: return .uri(base ? "b\(number).\(text)" : "x://a\(number).\(text)/")
            case 4: return .directory(name(number, upper: base))
            default: return .dns(base ? "\(text).b" : "*.\(number).\(text).b")
            }
        }

        private func addPolicies(to specification: inout CertificateSpecification, _ bytes: Int) {
            let size = 1 + abs(recipe.size) % 60
            let count = min(bytes / (size + 8), 10_000)
            let policies = (0..<count).map { number in
                TestObjectIdentifier([1, 3] + [UInt](repeating: 1, count: size) + [UInt(number)])
            }
            specification.certificatePolicies = policies
            specification.policyConstraints = .init(requireExplicitPolicy: 0)
        }
    }
}
