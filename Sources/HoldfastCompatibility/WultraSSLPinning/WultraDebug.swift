import Holdfast
import Logging

/// The log level of stores, in WultraSSLPinning's form.
///
/// It is for stores without a logger, including those of trust servers and of revocation lists, and applies immediately
/// to existing stores. They write to swift-log, under the label `holdfast.store`, in every build. A store with its own
/// logger follows the logger's level.
public enum WultraDebug {
    /// The amount of log messages.
    public enum VerboseLevel: Int, Sendable, Hashable, CaseIterable {
        /// Nothing.
        case off = 0
        /// Errors.
        case errors = 1
        /// Errors and warnings.
        case warnings = 2
        /// Everything.
        case all = 3
    }

    /// The log level of stores. Until it is set, the level of the log is used, and this reads as `all`.
    public static var verboseLevel: VerboseLevel {
        get {
            switch PolicyLog.shared.storeLevel {
            case .critical: .off
            case .error: .errors
            case .warning: .warnings
            default: .all
            }
        }
        set {
            PolicyLog.shared.storeLevel =
                switch newValue {
                // No message of a store is as severe as this.
                case .off: .critical
                case .errors: .error
                case .warnings: .warning
                case .all: .trace
                }
        }
    }
}
