import Holdfast
import Logging

/// How much stores write to the log, as WultraSSLPinning lets an application set it.
///
/// It is for stores that were given no logger, those of trust servers and of revocation lists included, and applies at
/// once to those that exist. They write to swift-log, under the label `holdfast.store`, in every build. A store with a
/// logger of its own follows the logger's level.
public enum WultraDebug {
    /// How much is written.
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

    /// How much stores write. Until it is set, the level of the log decides, and this reads as `all`.
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
                // Nothing that a store writes is as severe as this.
                case .off: .critical
                case .errors: .error
                case .warnings: .warning
                case .all: .trace
                }
        }
    }
}
