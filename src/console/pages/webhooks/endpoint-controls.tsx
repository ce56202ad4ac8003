import { Confirm, DangerZone } from '../../../../views/ui/confirm.tsx'
import { Select } from '../../../../views/ui/form/choices.tsx'
import { capitalized } from '../../../../views/ui/words.ts'
import type { Fields } from '../../../http/body.ts'
import { invalid } from '../../../platform/errors.ts'
import { trimmedText } from '../../form.ts'
import { good, usePage } from '../../page.tsx'
import { GracePeriod } from '../grace-period.tsx'
import { heldWords } from './endpoint-waiting.tsx'

interface Controlled {
  /** What the page calls it. */
  noun: 'endpoint' | 'webhook'
  active: boolean
  /** Number of held deliveries, if known. */
  held?: number
}

/** Pauses, resumes or deletes an endpoint, or rotates its secret: the page's actions of these names. */
export function EndpointControls(of: Controlled) {
  const { may } = usePage()
  const items = [of.active ? pause(of) : resume(of), rotation()]
  return <DangerZone items={may('delete') ? [...items, deletion(of)] : items} />
}

const pause = ({ noun }: Controlled) => ({
  title: `Pause ${noun}`,
  text: 'Deliveries are held until you resume it.',
  control: (
    <Confirm
      id="pause"
      verb={`Pause ${noun}`}
      question={`Pause this ${noun}?`}
      consequence={`Nothing is sent while the ${noun} is paused. Deliveries are held.`}
      action={usePage().actionHref('pause')}
      isHarmless
    />
  ),
})

const resume = ({ noun, held = 0 }: Controlled) => ({
  title: `Resume ${noun}`,
  text: held === 0 ? 'Starts sending again.' : `Held deliveries: ${heldWords(held)}.`,
  control: (
    <Confirm
      id="resume"
      verb={`Resume ${noun}`}
      question={`Resume this ${noun}?`}
      consequence={`New ${noun === 'endpoint' ? 'messages' : 'events'} are sent immediately.`}
      action={usePage().actionHref('resume')}
      isHarmless
    >
      <Select
        name="held"
        label="Held deliveries"
        value="drain"
        options={[
          { value: 'drain', label: 'Send now' },
          { value: 'discard', label: 'Discard' },
        ]}
      />
    </Confirm>
  ),
})

const rotation = () => ({
  title: 'Rotate secret',
  text: 'Creates a new signing secret. Both secrets sign until the old one expires.',
  control: (
    <Confirm
      id="rotate"
      verb="Rotate secret"
      question="Rotate the signing secret?"
      consequence="The new secret is shown once. Update your receiver before the old secret expires."
      action={usePage().actionHref('rotate')}
      isHarmless
    >
      <GracePeriod label="Old secret expires" />
    </Confirm>
  ),
})

const deletion = ({ noun }: Controlled) => ({
  title: `Delete ${noun}`,
  text: "Cancels its queued deliveries. This can't be undone.",
  control: (
    <Confirm
      id="delete"
      verb={`Delete ${noun}`}
      question={`Delete this ${noun}?`}
      consequence="Its URL receives nothing more. Queued and held deliveries are cancelled."
      action={usePage().actionHref('delete')}
    />
  ),
})

/** What the form of `resume` says of held deliveries. Throws `invalid` for anything else. */
export function heldIn(fields: Fields): 'drain' | 'discard' {
  const held = trimmedText(fields, 'held')
  if (held === 'drain' || held === 'discard') return held
  throw invalid('must be drain or discard', { field: 'held', rule: 'choice' })
}

/** Messages after `resume`, by what happened to held deliveries. */
export const resumed = (noun: Controlled['noun']) => ({
  drain: good(`${capitalized(noun)} resumed. Held deliveries are being sent.`),
  discard: good(`${capitalized(noun)} resumed. Held deliveries were discarded.`),
})
