import Holdfast

// The words in which the format states the settings of a host (docs/formats.md).
extension PinFileEdit.HostSettings {
    /// What happens when no pin is found.
    public enum Mode: String, Sendable, CaseIterable {
        /// Clients refuse the host.
        case enforce
        /// Clients report it, and standard validation decides.
        case report

        var value: PinSet.Enforcement {
            switch self {
            case .enforce: .enforce
            case .report: .reportOnly
            }
        }
    }

    /// Which pins a connection must match.
    public enum Require: String, Sendable, CaseIterable {
        /// One, of whatever role.
        case any
        /// One of the server's own key, and one of an issuer's.
        case leafAndIssuer

        var value: PinSet.Requirement {
            switch self {
            case .any: .any
            case .leafAndIssuer: .oneOfEachRole
            }
        }
    }

    /// What happens when the pins have run out.
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
