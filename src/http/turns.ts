/**
 * Lets one caller go on at each turn of the event loop, in the order in which they came. Forms that
 * come by the hundred at once are then taken in one by one, and what else is asked meanwhile is
 * answered in between.
 */
export function createTurns(): () => Promise<void> {
  const waiting: (() => void)[] = []
  let isGoing = false

  function next() {
    waiting.shift()?.()
    isGoing = waiting.length > 0
    if (isGoing) setImmediate(next)
  }

  return () =>
    new Promise((go) => {
      waiting.push(go)
      if (isGoing) return
      isGoing = true
      setImmediate(next)
    })
}
