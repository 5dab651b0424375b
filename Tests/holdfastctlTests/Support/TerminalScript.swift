/// Programs for Python that run others with a terminal or without one. The command `script` has other options on each
/// system, and a Mac has no `setsid`.
enum TerminalScript {
    /// Runs a command of the shell on a new terminal, on which standard input is typed. Exits as the command does.
    static let with = """
        import os, pty, sys
        sys.exit(os.waitstatus_to_exitcode(pty.spawn(["/bin/sh", "-c", sys.argv[1]])))
        """

    /// Runs a program in a session without a terminal. Exits as the program does.
    static let without = """
        import os, sys
        child = os.fork()
        if child == 0:
            os.setsid()
            os.execvp(sys.argv[1], sys.argv[1:])
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """
}
