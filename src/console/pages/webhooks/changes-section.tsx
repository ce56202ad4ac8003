import { CodeBlock } from '../../../../views/ui/code.tsx'
import { Section } from '../../../../views/ui/section.tsx'
import { DataTable } from '../../../../views/ui/table.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import type { Attempt } from '../../../http/delivery-log/model.ts'
import { changesSince } from './attempt-changes.ts'
import type { DiffLine } from './line-diff.ts'

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
        {body.length > 0 && <BodyDiff lines={body} />}
      </div>
    </Section>
  )
}

const SIGNS: Record<DiffLine['kind'], string> = { same: ' ', gone: '-', new: '+', 'left out': ' ' }

const BodyDiff = ({ lines }: { lines: readonly DiffLine[] }) => (
  <CodeBlock title="Response body" what="changes">
    {lines.map(({ kind, text }) => {
      const line = `${SIGNS[kind]} ${text}\n`
      if (kind === 'gone') return <del>{line}</del>
      return kind === 'new' ? <ins>{line}</ins> : line
    })}
  </CodeBlock>
)
