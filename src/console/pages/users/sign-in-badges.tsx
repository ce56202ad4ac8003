import { ActionButton } from '../../../../views/ui/form/button.tsx'
import { StatusBadge } from '../../../../views/ui/status.tsx'
import { good } from '../../page.tsx'

export const Switched = ({ isOn, issue }: { isOn: boolean; issue?: string | undefined }) => {
  if (!isOn) return <StatusBadge tone="quiet" word="disabled" />
  return issue === undefined ? (
    <StatusBadge tone="good" word="enabled" />
  ) : (
    <StatusBadge tone="warn" word="not configured" />
  )
}

export const Switch = ({
  isOn,
  name,
  action,
  fields,
}: {
  isOn: boolean
  name: string
  action: string
  fields?: Record<string, string>
}) => (
  <ActionButton isSmall action={`${action}/${isOn ? 'off' : 'on'}`} fields={fields}>
    {isOn ? 'Disable' : 'Enable'}
    <span class="unseen"> {name}</span>
  </ActionButton>
)

export const ENABLED = good('Enabled.')
export const DISABLED = good('Disabled.')
