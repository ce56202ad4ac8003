import { DiffBlock } from '../../../../views/ui/diff.tsx'
import { wordsOf } from '../../../../views/ui/exchange.tsx'
import { type DiffLine, diffOf } from '../../../../views/ui/line-diff.ts'
import { Section } from '../../../../views/ui/section.tsx'
import { DataTable } from '../../../../views/ui/table.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import type { Attempt } from '../../../http/delivery-log/model.ts'

/** Outcome of an attempt: response status or error. */
export function outcomeOf({ response, error, status }: Attempt): string {
  if (response) return `Status ${response.status}`
  return error ? wordsOf(error) : status
}

/** A field that differs from the previous attempt. */
export interface Change {
  what: string
  /** Empty if missing in one of the attempts. */
  was: string
  now: string
}

export interface Changes {
  changes: Change[]
  /** Diff of the response bodies; empty if they are equal. */
  body: DiffLine[]
}

/** Differences between two attempts, ignoring headers that change every time. */
function changesSince(before: Attempt, attempt: Attempt): Changes {
  const [was, now] = [before.response, attempt.response]
  return {
    changes: [
      ...changed('Outcome', outcomeOf(before), outcomeOf(attempt)),
      ...changed('IP address', before.address ?? '', attempt.address ?? ''),
      ...(before.request && attempt.request
        ? [
            ...changed('URL', before.request.url, attempt.request.url),
            ...headerChanges(
              'sent',
              lasting(Object.entries(before.request.headers)),
              lasting(Object.entries(attempt.request.headers)),
            ),
          ]
        : []),
      ...(was && now
        ? headerChanges('received', namedOnce(was.headers), namedOnce(now.headers))
        : []),
    ],
    body: was && now && was.body !== now.body ? diffOf(was.body, now.body) : [],
  }
}

const changed = (what: string, was: string, now: string): Change[] =>
  was === now ? [] : [{ what, was, now }]

function headerChanges(way: string, was: Map<string, string>, now: Map<string, string>): Change[] {
  const names = [...new Set([...was.keys(), ...now.keys()])].toSorted()
  return names.flatMap((name) =>
    changed(`${name} (${way})`, was.get(name) ?? '', now.get(name) ?? ''),
  )
}

/** Headers that differ in every attempt. */
const FLEETING = /^(date|webhook-timestamp)$|-(signature|attempt|trigger)$/

const lasting = (pairs: [string, string][]) =>
  namedOnce(pairs.filter(([name]) => !FLEETING.test(name.toLowerCase())))

/** Joins repeated headers to a list. */
function namedOnce(pairs: readonly (readonly string[])[]): Map<string, string> {
  const named = new Map<string, string>()
  for (const [name = '', value = ''] of pairs) {
    const lower = name.toLowerCase()
    if (lower === 'date') continue
    const known = named.get(lower)
    named.set(lower, known === undefined ? value : `${known}, ${value}`)
  }
  return named
}

/** Differences to the previous attempt. */
export const ChangesSection = ({ before, attempt }: { before: Attempt; attempt: Attempt }) => {
  const { changes, body } = changesSince(before, attempt)
  return (
    <Section
      id="changes"
      title="Changes since the previous attempt"
      note={`Compared with attempt ${before.number}, ignoring times and signatures.`}
    >
      <div class="stack">
        <DataTable
          caption="Changes since the previous attempt"
          rows={changes}
          columns={[
            { label: 'Field', isWide: true, cell: ({ what }) => <Text text={what} limit={60} /> },
            { label: 'Before', isWide: true, cell: ({ was }) => <Text text={was} limit={80} /> },
            { label: 'After', isWide: true, cell: ({ now }) => <Text text={now} limit={80} /> },
          ]}
          empty={
            <p class="quietrow">
              {body.length === 0 ? 'No changes' : 'Only the response body changed.'}
            </p>
          }
        />
        {body.length > 0 && <DiffBlock title="Response body" lines={body} />}
      </div>
    </Section>
  )
}
