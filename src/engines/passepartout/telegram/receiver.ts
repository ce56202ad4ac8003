/** Sees to it that the messages of one bot come in, for as long as this process has its lease. */
export interface Receiver {
  /** It has ended by itself: nothing comes in until the bot is changed. */
  isOver(): boolean
  /** Resolves when it has let go. */
  stop(): Promise<void>
}
