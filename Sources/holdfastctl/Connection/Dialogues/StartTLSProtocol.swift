import ArgumentParser

/// Protocols whose connections begin in plaintext and switch to TLS at the client's request.
enum StartTLSProtocol: String, CaseIterable, Sendable, ExpressibleByArgument {
    case smtp, imap, pop3, ldap, postgres, mysql

    /// The registered port of the protocol without TLS.
    var defaultPort: Int {
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
