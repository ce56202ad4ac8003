import { type Findings, lossOf, seconds, takeoverOf } from './rules.ts'

const count = (n: number) => n.toLocaleString('en')

/** The figures of a round on one line. */
export function described(findings: Findings): string {
  const { history, missing, generation, newGeneration } = findings
  const figures = [
    `generation ${generation} to ${newGeneration}`,
    `${count(history.writes().length)} writes acknowledged, ${count(missing.length)} missing`,
    `interruption ${seconds(history.interruption())}, of one client ${seconds(history.worstClient())}`,
  ]
  if (newGeneration > generation)
    figures.push(
      `first write ${seconds(takeoverOf(findings, true))}, first read ${seconds(takeoverOf(findings, false))}`,
    )
  if (!findings.isReplicated)
    figures.push(`lost ${seconds(lossOf(findings))}, reported ${seconds(findings.reportedLossMs)}`)
  if (findings.undelivered > 0) figures.push(`${count(findings.undelivered)} events not delivered`)
  if (findings.uncalled > 0) figures.push(`${count(findings.uncalled)} jobs not run`)
  return figures.join('; ')
}
