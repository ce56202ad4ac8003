import { Icon } from '../icons.tsx'
import { ScopedForm } from '../scope.tsx'
import { Text } from '../text.tsx'
import { url } from '../url.ts'
import { PlaceEmblem } from './emblem.tsx'
import type { FrameProps, Place } from './model.ts'
import { FRAME_PATHS } from './navigation.ts'

type Parts = Pick<FrameProps, 'base' | 'place' | 'places' | 'here'>

/** Tenant switcher. Posts a form, because switching changes the session. */
export const Switcher = ({ base, place, places }: Parts) => (
  <details class="menu switcher">
    <summary>
      <PlaceEmblem place={place} />
      <span class="unseen">Current tenant: </span>
      <span class="placename">
        <Text text={place.name} limit={48} />
      </span>
      <Icon name="updown" />
    </summary>
    <div class="popup">
      <ScopedForm action={url(base, FRAME_PATHS.place)}>
        {places.map((other) => (
          <Choice place={other} isCurrent={other.id === place.id} />
        ))}
      </ScopedForm>
    </div>
  </details>
)

const Choice = ({ place, isCurrent }: { place: Place; isCurrent: boolean }) => (
  <button
    type="submit"
    name="place"
    value={place.id}
    class="item"
    aria-current={isCurrent ? 'true' : undefined}
  >
    <PlaceEmblem place={place} />
    <Text text={place.name} limit={48} />
    {isCurrent && <Icon name="check" />}
  </button>
)

/** Switches between live and test. Posts a form, because the session remembers the choice. */
export const EnvironmentSwitch = ({
  base,
  environment,
  here,
}: Pick<FrameProps, 'base' | 'environment' | 'here'>) =>
  environment === undefined ? null : (
    <ScopedForm class="environment" action={url(base, FRAME_PATHS.environment)}>
      <input type="hidden" name="return_to" value={here} />
      <fieldset>
        <legend class="unseen">Environment</legend>
        {(['live', 'test'] as const).map((kind) => (
          <button type="submit" name="environment" value={kind} aria-pressed={kind === environment}>
            {kind === 'live' ? 'Live' : 'Test'}
          </button>
        ))}
      </fieldset>
    </ScopedForm>
  )
