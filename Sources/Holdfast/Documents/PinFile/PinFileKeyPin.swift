package import struct Foundation.Date

extension PinFile {
    /// A key that a host may have, and its role.
    package struct KeyPin: Sendable, Hashable {
        /// The certificate of a path that must have the key.
        package enum Role: String, Sendable, Hashable, CaseIterable {
            /// The server's own.
            case leaf
            /// Any certificate above it. Whether it is an intermediate or the root depends on the device.
            case issuer
        }

        /// The key's current state, for people and reports. Only `candidate` affects decisions.
        package enum State: String, Sendable, Hashable, CaseIterable {
            /// In use.
            case active
            /// A backup, in no chain that is served.
            case backup
            /// Being withdrawn.
            case retiring
            /// Not accepted yet: only whether it matches is reported.
            case candidate
        }

        /// The pin, of a key.
        package let pin: Pin
        /// The certificate of a path that must have the key.
        package let role: Role
        /// The current state of the key.
        package let state: State
        /// The last second for which the pin counts; nil if it counts as long as the file.
        package let notAfter: Date?

        /// Makes a pin; a time includes its whole second.
        /// - Throws: ``PinFileError`` `invalidPin` for the pin of a certificate, `invalidTime`.
        package init(
            _ pin: Pin, role: Role = .leaf, state: State = .active, notAfter: Date? = nil
        ) throws(PinFileError) {
            guard pin.subject == .publicKey else { throw Self.certificatePin }
            let end = try notAfter.map { date throws(PinFileError) in
                try PinFileTime.seconds(of: date, field: "notAfter")
            }
            self.pin = pin
            self.role = role
            self.state = state
            self.notAfter = end.map(Date.init(wholeSeconds:))
        }

        /// The first instant at which it no longer counts, apart from the file's own end.
        package var end: Date? { notAfter.map { Date(end: $0.wholeSeconds + 1) } }

        /// The combination that may occur only once in a host.
        struct Identity: Hashable {
            let pin: Pin
            let role: Role
        }

        var identity: Identity { Identity(pin: pin, role: role) }

        private static var certificatePin: PinFileError {
            PinFileError(
                .invalidPin, at: "pin", expected: "the pin of a key, sha256/BASE64", found: "the pin of a certificate",
                remedy: "Pin the certificate's key, which survives its renewal: `holdfastctl pin FILE` prints it.")
        }
    }
}
