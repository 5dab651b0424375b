import Holdfast

// The texts for the settings of a host in the format (docs/formats.md).
extension PinFileEdit.HostSettings {
    /// The behavior if no pin matches.
    public enum Mode: String, Sendable, CaseIterable {
        /// Clients refuse the host.
        case enforce
        /// Clients report the failure, and standard validation decides.
        case report

        var value: PinSet.Enforcement {
            switch self {
            case .enforce: .enforce
            case .report: .reportOnly
            }
        }
    }

    /// The pins that a connection must match.
    public enum Require: String, Sendable, CaseIterable {
        /// One pin of any role.
        case any
        /// One pin of the server's own key, and one of an issuer's.
        case leafAndIssuer

        var value: PinSet.Requirement {
            switch self {
            case .any: .any
            case .leafAndIssuer: .oneOfEachRole
            }
        }
    }

    /// The behavior after the pins have expired.
    public enum OnExpiry: String, Sendable, CaseIterable {
        /// Clients refuse the host.
        case failClosed
        /// Standard validation decides.
        case systemTrust

        var value: PinSet.ExpiryAction {
            switch self {
            case .failClosed: .reject
            case .systemTrust: .standardValidation
            }
        }
    }
}
