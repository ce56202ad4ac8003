/** Receives the messages of one bot while this process has its lease. */
export interface Receiver {
  /** Whether it has ended by itself and waits for a change of the bot. */
  isOver(): boolean
  /** Resolves when it has released the bot. */
  stop(): Promise<void>
}
