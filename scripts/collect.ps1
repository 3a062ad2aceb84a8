<#
.SYNOPSIS
Prints what coalescope needs to know of this Windows host, as one bundle of text (docs/bundle.md).

.DESCRIPTION
For Windows PowerShell 5.1 and PowerShell 7. Reads only: it changes nothing and writes no file but the
one that is asked for. Administrator's rights are not needed; what was not to be had without is named.
No command may take longer than -Seconds. Addresses, keys and registry settings of others are left out.

.PARAMETER Path
A new file to write to; without it the bundle goes to standard output.

.PARAMETER Seconds
How long a command may take.

.EXAMPLE
powershell -ExecutionPolicy Bypass -File collect.ps1 -Path host.txt
#>
[CmdletBinding()]
param(
    [string] $Path,
    [int] $Seconds = 30
)

Set-StrictMode -Version 2
$ErrorActionPreference = 'Stop'
$script:sections = 0
$script:out = New-Object System.Collections.Generic.List[string]

# Of each object these properties, as values that have the same JSON in all versions: an enumeration
# is a word, a property that is not there is left out.
$plain = {
    param($objects, $names)
    function Convert-Value($value) {
        if ($null -eq $value) { return $null }
        if ($value -is [bool] -or $value -is [string]) { return $value }
        if ($value -is [enum]) { return "$value" }
        if ($value -is [ValueType] -and $value.GetType().IsPrimitive) { return $value }
        if ($value -is [Microsoft.Management.Infrastructure.CimInstance]) {
            $inner = [ordered]@{}
            foreach ($one in $value.CimInstanceProperties) { $inner[$one.Name] = Convert-Value $one.Value }
            return [pscustomobject] $inner
        }
        if ($value -is [array]) { return , @($value | ForEach-Object { Convert-Value $_ }) }
        return "$value"
    }
    $all = @(foreach ($object in $objects) {
            $record = [ordered]@{}
            foreach ($name in $names) {
                $property = $object.PSObject.Properties[$name]
                if ($null -ne $property) { $record[$name] = Convert-Value $property.Value }
            }
            [pscustomobject] $record
        })
    if ($all.Count -gt 0) { ConvertTo-Json -InputObject $all -Depth 4 }
}

function Add-Section([string] $Title, [int] $Code, [string] $Output, [string] $Said) {
    $script:sections++
    $lines = @()
    if ($Output.Trim() -ne '') { $lines = @($Output.TrimEnd() -split '\r\n|\r|\n') }
    $script:out.Add("#= section $($script:sections) rc=$Code lines=$($lines.Count) $Title")
    foreach ($line in $lines) { $script:out.Add("|$line") }
    if ($Said -ne '') {
        $first = @($Said -split '\r\n|\r|\n')[0]
        $script:out.Add("!$first")
    }
}

# Runs a script in a thread of its own, so that it can be given up.
function Invoke-Limited([string] $Title, [scriptblock] $Script) {
    $shell = [powershell]::Create()
    try {
        $null = $shell.AddScript('param($plain, $script) $plain = [scriptblock]::Create($plain); ' +
            '& ([scriptblock]::Create($script))').AddArgument("$plain").AddArgument("$Script")
        $running = $shell.BeginInvoke()
        if (-not $running.AsyncWaitHandle.WaitOne($Seconds * 1000)) {
            $null = $shell.BeginStop($null, $null)
            Add-Section $Title 124 '' "took longer than $Seconds s"
            return
        }
        $output = ($shell.EndInvoke($running) | ForEach-Object { "$_" }) -join "`n"
        $said = ''
        $code = 0
        if ($shell.Streams.Error.Count -gt 0) {
            $said = "$($shell.Streams.Error[0])"
            $code = 1
        }
        Add-Section $Title $code $output $said
    } catch {
        Add-Section $Title 1 '' "$($_.Exception.Message)"
    }
}

function Add-Lack([string] $What, [string] $Why) {
    $script:out.Add("#= lacks ${What}: $Why")
}

# Runs a command if it is installed.
function Invoke-Known([string] $Command, [string] $Without, [scriptblock] $Script) {
    if (Get-Command -Name $Command -ErrorAction SilentlyContinue) {
        Invoke-Limited $Command $Script
    } else {
        Add-Lack $Command "not installed; $Without"
    }
}

$script:out.Add('# coalescope bundle 1')
$script:out.Add('#= by collect.ps1 1')
$identity = [Security.Principal.WindowsIdentity]::GetCurrent()
$principal = New-Object Security.Principal.WindowsPrincipal $identity
if (-not $principal.IsInRole([Security.Principal.WindowsBuiltInRole]::Administrator)) {
    Add-Lack 'administrator' 'virtual switches, and some settings of adapters, are shown only to one'
}

# The build with its update comes from the registry: Get-ComputerInfo needs many seconds.
Invoke-Limited 'Get-ItemProperty CurrentVersion' {
    $key = 'HKLM:\SOFTWARE\Microsoft\Windows NT\CurrentVersion'
    $names = 'ProductName', 'CurrentBuild', 'UBR', 'CurrentMajorVersionNumber',
    'CurrentMinorVersionNumber', 'EditionID', 'InstallationType'
    $about = Get-ItemProperty -Path $key | Select-Object -Property $names
    $about | Add-Member -NotePropertyName CsName -NotePropertyValue $env:COMPUTERNAME
    & $plain $about ($names + 'CsName')
}
Invoke-Known 'Get-NetAdapter' 'adapters are unknown' {
    & $plain (Get-NetAdapter -IncludeHidden:$false) @('Name', 'InterfaceDescription', 'InterfaceIndex',
        'MacAddress', 'Status', 'LinkSpeed', 'MtuSize', 'HardwareInterface', 'Virtual', 'DriverFileName',
        'DriverVersionString', 'PnPDeviceID')
}
Invoke-Known 'Get-NetAdapterRsc' 'RSC of adapters is unknown' {
    & $plain (Get-NetAdapterRsc) @('Name', 'InterfaceDescription', 'IPv4Enabled', 'IPv6Enabled',
        'IPv4Supported', 'IPv6Supported', 'IPv4OperationalState', 'IPv6OperationalState',
        'IPv4FailureReason', 'IPv6FailureReason')
}
Invoke-Known 'Get-NetAdapterLso' 'LSO of adapters is unknown' {
    & $plain (Get-NetAdapterLso) @('Name', 'InterfaceDescription', 'V1IPv4Enabled', 'IPv4Enabled',
        'IPv6Enabled')
}
Invoke-Known 'Get-NetAdapterAdvancedProperty' 'settings of drivers are unknown' {
    $objects = Get-NetAdapterAdvancedProperty | Where-Object { $_.RegistryKeyword -ne 'NetworkAddress' }
    & $plain $objects @('Name', 'DisplayName', 'DisplayValue', 'RegistryKeyword', 'RegistryValue')
}
Invoke-Known 'Get-NetAdapterStatistics' 'counters are unknown' {
    & $plain (Get-NetAdapterStatistics) @('Name', 'InterfaceDescription', 'ReceivedBytes',
        'ReceivedUnicastPackets', 'ReceivedMulticastPackets', 'ReceivedBroadcastPackets',
        'ReceivedDiscardedPackets', 'ReceivedPacketErrors', 'SentBytes', 'SentUnicastPackets',
        'SentMulticastPackets', 'SentBroadcastPackets', 'OutboundDiscardedPackets',
        'OutboundPacketErrors', 'RscStatistics')
}
Invoke-Known 'Get-NetOffloadGlobalSetting' 'whether RSC is off for the whole host is unknown' {
    & $plain (Get-NetOffloadGlobalSetting) @('ReceiveSideScaling', 'ReceiveSegmentCoalescing',
        'Chimney', 'TaskOffload', 'NetworkDirect', 'NetworkDirectAcrossIPSubnets',
        'PacketCoalescingFilter')
}
Invoke-Known 'Get-VMSwitch' 'no Hyper-V, or not its PowerShell module: virtual switches are unknown' {
    & $plain (Get-VMSwitch) @('Name', 'SwitchType', 'AllowManagementOS', 'EmbeddedTeamingEnabled',
        'NetAdapterInterfaceDescription', 'NetAdapterInterfaceDescriptions', 'SoftwareRscEnabled',
        'RscOffloadEnabled', 'IovEnabled', 'BandwidthReservationMode', 'PacketDirectEnabled',
        'PacketDirectInUse', 'DefaultQueueVrssEnabled', 'DefaultQueueVmmqEnabled')
}
Invoke-Known 'Get-VMNetworkAdapter' 'no Hyper-V, or not its PowerShell module: the guests'' adapters are unknown' {
    & $plain (Get-VMNetworkAdapter -All) @('VMName', 'Name', 'SwitchName', 'IsManagementOs', 'IovUsage',
        'VmqUsage', 'IeeePriorityTag')
}
# MTU of each stack, of the host's own adapters at a switch as well, and whether packets are passed on.
Invoke-Known 'Get-NetIPInterface' 'whether the host forwards, and its MTUs, are unknown' {
    & $plain (Get-NetIPInterface) @('InterfaceAlias', 'InterfaceIndex', 'AddressFamily', 'NlMtu', 'Forwarding',
        'ConnectionState')
}
Invoke-Known 'Get-NetLbfoTeam' 'teams of Windows itself are unknown' {
    & $plain (Get-NetLbfoTeam) @('Name', 'Members', 'TeamNics', 'TeamingMode', 'LoadBalancingAlgorithm', 'Status')
}
# Merging of UDP (URO) as a whole; of an adapter it is the keyword *UdpRsc among the settings of its driver.
Invoke-Known 'netsh' 'whether UDP is merged (URO) is unknown' { netsh int udp show global }
$script:out.Add("#= end sections=$($script:sections)")

if ($Path -ne '') {
    if (Test-Path -LiteralPath $Path) {
        throw "collect.ps1: $Path is there already: give the path of a new file"
    }
    $full = $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($Path)
    [IO.File]::WriteAllLines($full, $script:out)
} else {
    $script:out
}
