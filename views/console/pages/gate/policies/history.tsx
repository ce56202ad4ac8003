import type { Actor } from '../../../../../src/platform/audit/index.ts'
import { Events } from '../../../events.tsx'
import { Section } from '../../../section.tsx'
import { Text } from '../../../text.tsx'
import { Time } from '../../../time.tsx'
import { url } from '../../../url.ts'

/** A change of the policies. */
export interface Saved {
  at: number
  actor: Actor
}

interface VersionsProps {
  base: string
  now: number
  saved: readonly Saved[]
  /** Names of operators by ID. */
  names: ReadonlyMap<string, string>
}

/** Latest changes of the policies. */
export const Versions = ({ base, now, saved, names }: VersionsProps) =>
  saved.length === 0 ? null : (
    <Section
      id="saved"
      title="Change history"
      note={
        <>
          Latest changes. All changes are in the{' '}
          <a href={url(base, '/console/audit', { action: 'policies.changed' })}>audit log</a>.
        </>
      }
    >
      <Events
        label="Change history"
        events={saved.map(({ at, actor }) => ({
          tone: 'quiet',
          title: (
            <>
              Saved by <Text text={nameOf(actor, names)} limit={64} />
            </>
          ),
          text: actor.source && <Text text={actor.source} limit={64} />,
          aside: <Time at={at} now={now} />,
        }))}
      />
    </Section>
  )

function nameOf({ kind, id }: Actor, names: ReadonlyMap<string, string>): string {
  if (kind === 'operator') return names.get(id ?? '') ?? 'a former operator'
  return kind === 'key' ? 'an API key' : 'the command line'
}
