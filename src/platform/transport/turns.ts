/** Waits for received bytes, because an error can be reported before them. */
export const afterWhatHasArrived = (then: () => void) => void setImmediate(then)

/** Waits for everything that has arrived by now, even unread because the process is busy. */
export const afterOneMoreRead = (then: () => void) =>
  afterWhatHasArrived(() => afterWhatHasArrived(then))
