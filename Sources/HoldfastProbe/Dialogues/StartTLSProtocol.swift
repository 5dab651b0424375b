/// Protocols whose connections begin in plaintext and switch to TLS at the client's request.
public enum StartTLSProtocol: String, CaseIterable, Sendable {
    /// Mail between servers and from clients (RFC 3207).
    case smtp
    /// Mailboxes (RFC 9051 6.2.1).
    case imap
    /// Mailboxes (RFC 2595 4).
    case pop3
    /// Directories (RFC 4511 4.14).
    case ldap
    /// PostgreSQL's SSLRequest.
    case postgres
    /// SSLRequest of MySQL and MariaDB.
    case mysql

    /// The registered port of the protocol without TLS.
    public var defaultPort: Int {
        switch self {
        case .smtp: 25
        case .imap: 143
        case .pop3: 110
        case .ldap: 389
        case .postgres: 5432
        case .mysql: 3306
        }
    }

    /// A new dialogue, up to the beginning of TLS.
    var dialogue: any ConnectionDialogue {
        switch self {
        case .smtp: SMTPDialogue()
        case .imap: IMAPDialogue()
        case .pop3: POP3Dialogue()
        case .ldap: LDAPDialogue()
        case .postgres: PostgresDialogue()
        case .mysql: MySQLDialogue()
        }
    }
}
