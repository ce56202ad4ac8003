import { table } from '../command.ts'
import type { Finding, Group } from './finding.ts'
import { counted } from './words.ts'

/** A table with a heading per group, and a summary at the end. */
export function report(groups: readonly Group[]): string {
  const filled = groups.filter(({ findings }) => findings.length > 0)
  const findings = filled.flatMap((group) => group.findings)
  const rows = findings.map(({ result, check, message }) => [`  ${result}`, check, message])
  const lines = table(rows).split('\n')
  const blocks = filled.map(({ title, findings: { length } }) =>
    [title, ...lines.splice(0, length)].join('\n'),
  )
  return [...blocks, summary(findings)].join('\n\n')
}

/** `3 problems, 2 warnings`, or `no problems found`. */
export function summary(findings: readonly Finding[]): string {
  const count = (result: Finding['result']) =>
    findings.filter((finding) => finding.result === result).length
  const words = (['problem', 'warning'] as const)
    .filter((result) => count(result) > 0)
    .map((result) => counted(count(result), result))
  return words.join(', ') || 'no problems found'
}
